import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import t from 'tap'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { startProgram } from '../support/processes.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { insertTenant } from '../support/tenant.ts'
import { createNextResult, insertLiveProbes, insertMonitors, publish } from '../support/verdict.ts'
import { HANG_MS, waitFor } from '../support/wait.ts'

// takes about 65 s

const MONITORS = 32

/** How late timers of this process were: a machine that pauses delays the others as long. */
const timers = monitorEventLoopDelay()
timers.enable()
t.teardown(() => timers.disable())

const { url } = await createDatabase(t)
const clickhouse = await createClickhouseDatabase(t)
const server = await startNats(t)
const db = createPostgres(url)
const nats = await connectNats(server.url, 'test')
await ensureStreams(nats.manager)
t.teardown(async () => {
  await nats.close()
  await db.destroy()
})
const { projectId } = await insertTenant(db)
await insertLiveProbes(db)

const SECRET_KEY = randomBytes(32).toString('base64')

/** A control plane that reaches PostgreSQL through the relay. */
async function startControlPlane(databaseUrl: string, roles: string) {
  const program = startProgram(t, {
    program: 'dist/control-plane.js',
    env: {
      DATABASE_URL: databaseUrl,
      NATS_URL: server.url,
      CLICKHOUSE_URL: clickhouse.url,
      SECRET_KEY,
      PORT: '0',
      OPERATOR_PORT: '0',
      GRPC_PORT: '0',
      ROLES: roles,
    },
  })
  const ready = await program.untilEvent('ready', HANG_MS)
  const [origin, operator] = [ready.http_port, ready.operator_port].map(port => `http://127.0.0.1:${port}`)
  return { program, origin, operator }
}

const countMonitors = async (ids: string[], status: string) => {
  const sql = 'SELECT count(DISTINCT monitor_id) AS n FROM transitions WHERE monitor_id = ANY(?) AND to_status = ?'
  return (await query<{ n: number }>(db, sql, [ids, status]))[0]!.n
}

t.test(
  'outages are reported within 15 seconds when the host of PostgreSQL disappears without closing connections',
  async t => {
    const relay = await startTcpRelay(t, url)
    const processes = [await startControlPlane(relay.url, 'verdict'), await startControlPlane(relay.url, 'verdict')]
    const ids = await insertMonitors(db, projectId, MONITORS)
    const fire = (up: boolean) =>
      publish(
        nats,
        ids.map(id => createNextResult(id, { up })),
      )
    await fire(true)
    await waitFor(async () => (await countMonitors(ids, 'up')) === MONITORS, { label: 'every monitor up' })

    relay.abandon()
    const vanishedAt = new Date()
    await fire(false)
    await waitFor(async () => (await countMonitors(ids, 'down')) === MONITORS, { label: 'every monitor down' })
    const late =
      'SELECT extract(epoch FROM max(created_at) - CAST(? AS timestamptz)) AS seconds FROM incidents WHERE cause_monitor_id = ANY(?)'
    const seconds = Number((await query<{ seconds: string }>(db, late, [vanishedAt, ids]))[0]!.seconds)
    t.comment(`the last of ${MONITORS} outages was reported after ${seconds.toFixed(1)} s`)
    const latest = 15 + timers.max / 1e9
    t.ok(seconds < latest, `${seconds.toFixed(1)} s, at most ${latest.toFixed(1)} s`)
    for (const { program } of processes) t.equal(await program.stop(), 0, 'it was not ended by itself')
  },
)

t.test('processes survive an outage of PostgreSQL of any length, and continue after it', async t => {
  const relay = await startTcpRelay(t, url)
  const { program, origin, operator } = await startControlPlane(relay.url, 'api,fleet,verdict,record,deliver,schedule')
  const [id] = await insertMonitors(db, projectId, 1)
  await publish(nats, [createNextResult(id!, { up: true })])
  await waitFor(async () => (await countMonitors([id!], 'up')) === 1, { label: 'the monitor up' })

  // nothing answers, not even new connections: each round takes as long as its timeouts allow
  relay.swallow()
  const text = async () => (await fetch(`${operator}/metrics`)).text()
  const parseFailedRounds = (metrics: string, loop: string) =>
    Number(new RegExp(`picket_loop_rounds_total\\{loop="${loop}",outcome="failed"\\} (\\d+)`).exec(metrics)?.[1] ?? 0)
  await waitFor(
    async () => {
      const metrics = await text()
      const others = ['fleet_links', 'deliver', 'heartbeats-overdue', 'heartbeats-listening']
      return (
        parseFailedRounds(metrics, 'verdict-ownership') >= 6 &&
        others.every(loop => parseFailedRounds(metrics, loop) >= 2)
      )
    },
    { label: 'six failed rounds of one loop, two of the others', everyMs: 1_000 },
  )
  await waitFor(async () => (await text()).includes('\npicket_verdict_partitions_owned 0\n'), {
    label: 'no partition, because its lease has ended',
  })
  t.equal((await fetch(`${origin}/healthz`)).status, 200)
  t.equal((await fetch(`${operator}/readyz`)).status, 503)
  t.notMatch(await text(), /outcome="late"/, 'no round took longer than it may')

  await publish(nats, [createNextResult(id!, { up: false })])
  await relay.restore()
  await waitFor(async () => (await countMonitors([id!], 'down')) === 1, { label: 'the monitor down' })
  t.notOk(program.lines.some(({ event }) => event === 'stuck'))
  t.equal(await program.stop(), 0)
})
