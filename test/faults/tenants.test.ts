import t from 'tap'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startImports } from '../support/import-load.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { insertTenant } from '../support/tenant.ts'
import { createNextResult, insertLiveProbes, publish, readStatuses } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const PATIENT = { timeoutMs: 120_000 }

const picket = await startPicket(t, { regions: [] })
const db = createPostgres(picket.databaseUrl, 4)
t.teardown(() => db.destroy())
await insertLiveProbes(db)
const nats = await connectNats(picket.nats.url, 'test', picket.nats.operator)
t.teardown(() => nats.close())

const owners = () =>
  query<{ id: number; owner: string; epoch: number }>(db, 'SELECT id, owner, epoch FROM partitions ORDER BY id')

t.test('While one tenant sends 25 imports of 1,000 monitors, another gets its alerts and responses', async t => {
  const receiver = await startReceiver(t)
  const hook = { name: 'Hook', type: 'webhook', config: { url: receiver.url }, is_default: true }
  t.equal((await picket.api.post('/alerts/channels', hook)).status, 201)
  const shop = { name: 'Shop', type: 'http', url: 'http://127.0.0.1:9/', regions: ['us-east'], retry_count: 0 }
  const { body } = await picket.api.post('/monitors/bulk', { monitors: Array(5).fill(shop) })
  const ids: string[] = body.monitors.map((monitor: { id: string }) => monitor.id)
  await publish(
    nats,
    ids.map(id => createNextResult(id, { up: true })),
  )
  for (const id of ids) {
    await waitFor(async () => (await readStatuses(db, id)) === 'up', { ...PATIENT, label: 'the first verdict' })
  }
  await waitFor(async () => (await owners()).every(({ owner }) => owner), { ...PATIENT, label: 'owners' })
  const before = await owners()

  const { key } = await createApiKey(db, await insertTenant(db, 'business'), { name: 'test', scope: 'admin' })
  const imports = startImports(t, { origin: picket.origin, key }, { atOnce: 25, monitors: 1_000 })
  const done = () => imports.answers[200] ?? 0
  await waitFor(() => done() > 0, { ...PATIENT, label: 'the first import' })
  for (const [i, id] of ids.entries()) {
    await publish(nats, [createNextResult(id, { up: false })])
    await waitFor(() => receiver.received.length > i, { ...PATIENT, label: 'the webhook' })
    const answers = await Promise.all([picket.api.get('/monitors'), picket.api.get(`/monitors/${id}`)])
    t.same(
      answers.map(({ status }) => status),
      [200, 200],
    )
    const made = await picket.api.post('/monitors', { name: `New ${i}`, type: 'http', url: 'http://127.0.0.1:9/' })
    t.equal(made.status, 201)
    const sofar = done()
    await waitFor(() => done() > sofar, { ...PATIENT, label: 'imports go on' })
  }
  await imports.stop()
  t.same(
    Object.keys(imports.answers).filter(status => !['200', '429', '503'].includes(status)),
    [],
    'an import is done, or may come again',
  )
  t.same(await owners(), before, 'no partition changed its owner')
})
