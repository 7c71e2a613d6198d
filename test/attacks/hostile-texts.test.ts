import t from 'tap'
import { describePromise, isLong, startTextTable } from '../support/text-table.ts'

// takes about 25 s

const { operations, listFields, attack } = await startTextTable(t)

for (const operation of operations.filter(one => !isLong(one) && listFields(one).length > 0)) {
  t.test(describePromise(operation), t => attack(t, operation))
}

t.test('Every write with a body has a text field, except roles, switches and regions', t => {
  t.ok(operations.length > 35)
  t.same(
    operations.filter(one => listFields(one).length === 0).map(({ name }) => name),
    ['PUT /members/{id}', 'PUT /me/preferences', 'POST /probe-tokens', 'PUT /chat/identities/{id}'],
  )
  t.end()
})
