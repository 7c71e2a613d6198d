import t from 'tap'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { HEARTBEAT, ping, readHeartbeat } from '../support/heartbeats.ts'
import { startPicket } from '../support/picket.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

t.test('a ping that reaches a process without PostgreSQL is acknowledged, and another process stores it', async t => {
  const picket = await startPicket(t, { regions: [] })
  const relay = await startTcpRelay(t, picket.databaseUrl)
  const cutOff = await picket.addControlPlane({ ROLES: 'api', DATABASE_URL: relay.url })
  const ready = await cutOff.untilEvent('ready')
  const [origin, operator] = [ready.http_port, ready.operator_port].map(port => `http://127.0.0.1:${port}`)
  const db = createPostgres(picket.databaseUrl, 2)
  t.teardown(() => db.destroy())
  const { data } = (await picket.api.post('/monitors', HEARTBEAT)).body
  const url = `${origin}${new URL(data.ping_url).pathname}`
  t.equal((await ping(url)).status, 200)
  const pingsStored = async () => (await readHeartbeat(db, data.id))!.pings

  await relay.cut()
  const due = (await readHeartbeat(db, data.id))!.due_at!.getTime()
  t.same(await Promise.all([ping(url), ping(url), ping(url)].map(async one => (await one).status)), [200, 200, 200])
  await waitFor(async () => (await pingsStored()) === 4, { timeoutMs: 120_000, label: 'three kept pings' })
  t.ok((await readHeartbeat(db, data.id))!.due_at!.getTime() > due, 'the next success is expected later')

  await relay.restore()
  await waitFor(async () => (await fetch(`${operator}/readyz`)).ok, { timeoutMs: 120_000, label: 'PostgreSQL again' })
  relay.swallow()
  t.equal((await ping(url)).status, 200, 'also when PostgreSQL gives no answer at all')
  await waitFor(async () => (await pingsStored()) === 5, { timeoutMs: 120_000, label: 'the last kept ping' })
  t.equal((await picket.api.get(`/monitors/${data.id}`)).body.data.status, 'up')
  await cutOff.kill9()
})
