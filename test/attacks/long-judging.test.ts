import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { toCreatedFields } from '../../control-plane/monitoring/monitors/settings/fields.ts'
import { findNewMonitorProblems } from '../../control-plane/monitoring/monitors/settings/problems.ts'
import { shareApi } from '../support/api-server.ts'

/** As many as a monitor may have; each takes about a millisecond to compile. */
const assertions = (pattern: string) =>
  Array.from({ length: 50 }, (_, i) => ({ type: 'body', operator: 'matches', value: `${pattern}${i}` }))
const monitor = (pattern: string) => ({
  ...{ name: 'Shop', type: 'http' as const, url: 'https://shop.example.com/' },
  assertions: assertions(pattern),
})

t.test('A process yields to other work after each regular expression that it examines', async t => {
  let pauses = 0
  const pause = async () => void pauses++
  const fields = toCreatedFields(monitor('(?:[a-z0-9_.-]{1,20}@[a-z]{1,20}){10}'))
  t.same(await findNewMonitorProblems(fields, () => null, pause), [])
  t.equal(pauses, 50)
})

t.test(
  'POST /monitors/bulk 201: 750 expressions with 140,000 instructions each are refused by their texts',
  async t => {
    const api = await shareApi()
    const monitors = Array.from({ length: 15 }, () => monitor('a{1000}'.repeat(140)))
    const { status, body } = await api.call('POST', '/monitors/bulk', { body: { monitors } })
    t.equal(status, 201)
    t.equal(body.errors.length, 15)
    t.match(body.errors[14], { index: 14, error: /too large; use smaller repetitions/ })
  },
)

t.test('PUT /monitors/{id} 200: an expression stored before the limit does not prevent other changes', async t => {
  const api = await shareApi()
  const body = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', interval_seconds: 60 }
  const { id } = (await api.call('POST', '/monitors', { body })).body.data
  const old = assertions('a{1000}'.repeat(140)).slice(0, 1)
  await execute(api.db, 'UPDATE monitors SET assertions = ? WHERE id = ?', [JSON.stringify(old), id])
  const put = (change: object) => api.call('PUT', `/monitors/${id}`, { body: change })
  t.equal((await put({ url: 'https://other.example.com/' })).status, 200)
  t.equal((await put({ assertions: old })).status, 200, 'sent again as it is')
  t.match(await put({ assertions: assertions('b{1000}'.repeat(140)).slice(0, 1) }), {
    status: 400,
    body: { error: { details: [{ path: 'assertions[0]', message: /too large/ }] } },
  })
})
