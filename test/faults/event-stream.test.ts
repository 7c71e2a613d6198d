import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startPostgres } from '../../tools/engines/postgres.ts'
import { insertWatchedMonitors } from '../support/board.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { keepEngine } from '../support/engine.ts'
import { openEvents } from '../support/event-stream.ts'
import { startNats } from '../support/nats.ts'
import { startProgram } from '../support/processes.ts'
import { insertTenant } from '../support/tenant.ts'
import { HANG_MS, waitFor } from '../support/wait.ts'

// takes about 40 s

const dataDir = mkdtempSync(join(tmpdir(), 'picket-events-'))
const logFile = join(dataDir, 'postgres.log')
const postgres = await keepEngine(port => startPostgres({ dataDir: join(dataDir, 'postgres'), logFile, port }))
t.teardown(async () => {
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true })
})
await migratePostgres(postgres.url)
const db = createPostgres(postgres.url)
t.teardown(() => db.destroy())
const clickhouse = await createClickhouseDatabase(t)
const nats = await startNats(t)
const tenant = await insertTenant(db)
const { key } = await createApiKey(db, tenant, { name: 'test', scope: 'read' })
const ids = await insertWatchedMonitors(db, tenant.projectId, 200)

async function startControlPlane() {
  const program = startProgram(t, {
    program: 'dist/control-plane.js',
    env: {
      DATABASE_URL: postgres.url,
      NATS_URL: nats.url,
      CLICKHOUSE_URL: clickhouse.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      ...{ PORT: '0', OPERATOR_PORT: '0', GRPC_PORT: '0', ROLES: 'api' },
    },
  })
  const ready = await program.untilEvent('ready', HANG_MS)
  const [origin, operator] = [ready.http_port, ready.operator_port].map(port => `http://127.0.0.1:${port}`)
  return { program, origin: origin!, operator: operator! }
}

const { program, origin, operator } = await startControlPlane()
/** Fails while PostgreSQL is unreachable; a condition that is waited for tries again. */
const rename = (name: string, id = ids[0]!) => execute(db, 'UPDATE monitors SET name = ? WHERE id = ?', [name, id])
const hasName = (name: string) => (event: { data: { changes: { monitors: { name: string[] } } | null } }) =>
  event.data.changes?.monitors.name.includes(name)

/** The interval at which changes are read without a notification. */
const POLL_MS = 5_000

t.test('A change arrives with the notification of its commit, and not with the next poll', async t => {
  const stream = await openEvents(t, origin, { key })
  await stream.until('ready')
  const delaysMs: number[] = []
  for (let i = 0; i < 5; i++) {
    await rename(`Quick ${i}`)
    const committedMs = performance.now()
    delaysMs.push((await stream.until('board', hasName(`Quick ${i}`))).atMs - committedMs)
  }
  t.comment(`after ${delaysMs.map(Math.round).join(', ')} ms`)
  // without notifications, each after the first would take an interval
  t.ok(Math.min(...delaysMs.slice(1)) < 0.8 * POLL_MS)
})

t.test('A stream survives the loss of the connection that listens for changes', async t => {
  const stream = await openEvents(t, origin, { key })
  await stream.until('ready')
  await execute(db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'picket-listen'`)
  await rename('Unheard')
  await stream.until('board', hasName('Unheard'))
  t.equal(stream.ended, null)
})

for (const how of ['restarted', 'killed'] as const) {
  t.test(`A stream continues without a gap after PostgreSQL was ${how}`, async t => {
    const stream = await openEvents(t, origin, { key })
    await stream.until('ready')
    await rename(`Before it was ${how}`, ids[1]!)
    await (how === 'killed' ? postgres.kill9() : postgres.stop())
    const board = await fetch(`${origin}/api/v1/monitors/board`, { headers: { authorization: `Bearer ${key}` } })
    t.equal(board.status, 503, 'the board is not an old one')
    await board.text()
    await postgres.restart()
    await waitFor(() => rename(`After it was ${how}`), { label: 'a change after the restart' })
    await stream.until('board', hasName(`After it was ${how}`))
    await stream.until('board', hasName(`Before it was ${how}`))
    t.same([stream.ended, stream.events.filter(({ event }) => event === 'reset')], [null, []])
  })
}

const countEnded = async (why: string) => {
  const text = await (await fetch(`${operator}/metrics`)).text()
  return Number(new RegExp(`picket_event_streams_ended_total{why="${why}"} (\\d+)`).exec(text)?.[1] ?? 0)
}

t.test('A reader that does not keep up is disconnected, and the others are not', async t => {
  const [slow, quick] = [await openEvents(t, origin, { key, isPaused: true }), await openEvents(t, origin, { key })]
  await quick.until('ready')
  const long = (n: number) => `${n} ${randomBytes(100).toString('hex')}`
  let n = 0
  await waitFor(
    async () => {
      await execute(db, 'UPDATE monitors SET name = ? WHERE project_id = ?', [long(n++), tenant.projectId])
      return (await countEnded('slow')) === 1
    },
    { label: 'a reader that is disconnected', everyMs: 100 },
  )
  await rename('Still there')
  await quick.until('board', hasName('Still there'))
  t.equal(quick.ended, null)
  t.ok(slow.events.length === 0)
})

t.test('SIGTERM ends the streams, also of a reader that does not read, and the process stops at once', async t => {
  const readers = await Promise.all(Array.from({ length: 5 }, () => openEvents(t, origin, { key })))
  await openEvents(t, origin, { key, isPaused: true })
  await Promise.all(readers.map(reader => reader.until('ready')))
  t.equal(await program.stop(), 0)
  const late = program.lines.find(({ event }) => event === 'stop_timeout')
  t.not(late?.resource, 'HTTP server', 'no stream delays the stop')
  for (const reader of readers) t.equal(await reader.untilEnd(), 'complete')
})
