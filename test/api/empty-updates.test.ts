import t from 'tap'
import { shareApi } from '../support/api-server.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { buildAddress, createRecords } from '../support/records.ts'

const api = await shareApi()
const mine = await api.tenant('business')
const records = await createRecords(api, mine)
const { operations } = await readOperations(api)
/** Of a person; a key gets 409. */
const isOfPerson = ({ path }: Operation) => path === '/me/preferences'
const takesNothing = (operation: Operation) =>
  operation.method === 'PUT' && operation.body !== null && !operation.body.required?.length && !isOfPerson(operation)

t.test('PUT with an empty body does not change updated_at of any record', async t => {
  const updates = operations.filter(takesNothing)
  t.ok(updates.length >= 11, `${updates.length} updates take an empty body`)
  for (const operation of updates) {
    const address = buildAddress(operation, records)
    const readable = operations.some(({ name }) => name === `GET ${operation.path}`)
    const before = readable ? (await api.call('GET', address, { key: mine.key })).body : null
    const put = () => api.call('PUT', address, { key: mine.key, body: {} })
    const [first, second] = [await put(), await put()]
    t.equal(first.status, 200, operation.name)
    t.same(second.body, first.body, operation.name)
    if (before) t.same((await api.call('GET', address, { key: mine.key })).body, before, operation.name)
  }
})
