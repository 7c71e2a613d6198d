import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startRecorder } from '../../control-plane/insight/analytics/recording/recorder.ts'
import { ResultBatch } from '../../shared/checks/result.ts'
import { computePartition, resultSubject } from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startHeldClickhouse } from '../support/held-clickhouse.ts'
import { startNats } from '../support/nats.ts'
import { startRawServer } from '../support/raw-server.ts'
import { createResult } from '../support/results.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const { url, database } = await createClickhouseDatabase(t)
const proxy = await startHeldClickhouse(t, url)
const natsServer = await startNats(t)
const api = await startApi(t, { CLICKHOUSE_URL: proxy.url, NATS_URL: natsServer.url, ROLES: 'api,record' })
const nats = await connectNats(natsServer.url, 'test')
const clickhouse = createClickhouse(url)
t.teardown(() => Promise.all([nats.close(), clickhouse.close()]))
t.afterEach(() => proxy.release())

async function publish(monitorId: string) {
  const results = [createResult(monitorId, Date.now(), {})]
  const bytes = ResultBatch.encode({ probeId: 'probe-1', region: 'us-east', results }).finish()
  await nats.js.publish(resultSubject(computePartition(monitorId), 'us-east'), bytes)
}

const isRecorded = async (id: string) =>
  (await select(clickhouse, 'SELECT 1 FROM results WHERE monitor_id = {id:UUID}', { id })).length > 0

async function createMonitors(count: number) {
  const tenants = await Promise.all(Array.from({ length: count }, () => api.tenant()))
  return Promise.all(tenants.map(async ({ key, projectId }) => ({ key, id: await insertMonitor(api.db, projectId) })))
}

t.test('Results are recorded while ClickHouse answers no reads of the API', async t => {
  const monitors = await createMonitors(5)
  const held = proxy.held.length
  proxy.hold(/SELECT/)
  const reads = monitors.flatMap(({ key, id }) =>
    Array.from({ length: 6 }, () => api.call('GET', `/monitors/${id}/checks`, { key }).catch(() => null)),
  )
  await waitFor(() => proxy.held.length - held >= 8, { label: 'reads that wait' })
  const id = monitors[0]!.id
  await publish(id)
  await waitFor(() => isRecorded(id), { label: 'the result in the history' })
  t.ok(
    proxy.held.slice(held).every(({ isOpen }) => isOpen),
    'the insert did not wait until a read was given up',
  )
  t.equal(proxy.held.length - held, 8, 'and other reads wait in the process')
  proxy.release()
  await Promise.all(reads)
})

t.test('A recorder whose inserts get no connection ends its rounds with an error', async t => {
  const port = await startRawServer(t, () => {})
  const stalled = createClickhouse(`http://127.0.0.1:${port}`, { maxConnections: 1 })
  const own = await startNats(t)
  const connection = await connectNats(own.url, 'test')
  await ensureStreams(connection.manager)
  const db = createPostgres((await createDatabase(t)).url)
  const metrics = createMetrics()
  // they wait for the one connection, 30 s each
  for (let i = 0; i < 60; i++) void stalled.query({ query: 'SELECT 1' }).catch(() => {})
  const log = createLog('test', 'silent')
  const recorder = startRecorder({ db, nats: connection, clickhouse: stalled, log, metrics }, 1_000)
  t.teardown(async () => {
    await stalled.close()
    await recorder.stop()
    await Promise.all([connection.close(), db.destroy()])
  })
  const bytes = (id: string) =>
    ResultBatch.encode({ probeId: 'p', region: 'us-east', results: [createResult(id, Date.now(), {})] }).finish()
  const id = uuidv7()
  await connection.js.publish(resultSubject(computePartition(id), 'us-east'), bytes(id))
  const failed = /^picket_loop_rounds_total\{loop="record",outcome="failed"\} ([2-9]|\d\d+)$/m
  await waitFor(async () => failed.test((await metrics.render()).text), { label: 'two rounds that failed' })
  t.notMatch((await metrics.render()).text, /loop="record",outcome="late"/)
})

t.test(
  'One project has three reads at a time, reads without a caller are cancelled, and others are answered',
  async t => {
    const [busy, other] = await createMonitors(2)
    const held = proxy.held.length
    proxy.hold(new RegExp(busy!.id))
    const strips = `/analytics/strips?monitor_ids=${busy!.id}`
    const reads = Array.from({ length: 24 }, () => api.call('GET', strips, { key: busy!.key }))
    await waitFor(() => proxy.held.length > held, { label: 'a read that waits' })
    t.equal((await api.call('GET', `/analytics/latency?monitor_id=${other!.id}`, { key: other!.key })).status, 200)
    for (const { status, body } of await Promise.all(reads)) {
      t.match({ status, body }, { status: 200, body: { meta: { latency_available: false } } })
    }
    const open = () => proxy.held.slice(held).filter(({ isOpen }) => isOpen).length
    await waitFor(() => open() === 0, { label: 'no read in progress' })
    // the end of three reads can arrive after the begin of the next three
    t.ok(proxy.maxOpen() <= 6, `${proxy.maxOpen()} reads at the same time`)
  },
)

t.test('A read ends when its caller has gone', async t => {
  const [first, second] = await createMonitors(2)
  const held = proxy.held.length
  proxy.hold(/SELECT/)
  const path = (id: string) => `/monitors/${id}/checks`
  const staying = api.call('GET', path(first!.id), { key: first!.key }).catch(() => null)
  await waitFor(() => proxy.held.length === held + 1, { label: 'the first read' })
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${second!.key}` }
  const left = fetch(`${api.origin}/api/v1${path(second!.id)}`, { headers, signal: leaving.signal }).catch(() => null)
  await waitFor(() => proxy.held.length === held + 2, { label: 'the second read' })
  leaving.abort()
  await left
  await waitFor(() => !proxy.held[held + 1]!.isOpen, { label: 'the end of the second read' })
  t.ok(proxy.held[held]!.isOpen, 'the first one goes on')
  proxy.release()
  await staying
})

t.test('Summaries share a count of checks that is still running', async t => {
  const [monitor] = await createMonitors(1)
  const held = proxy.held.length
  proxy.hold(new RegExp(monitor!.id))
  // each waits two seconds, and a count that has ended is current for five
  for (let i = 0; i < 5; i++) {
    const { body } = await api.call('GET', '/analytics/summary', { key: monitor!.key })
    t.equal(body.data.checks_24h, null)
  }
  t.equal(proxy.held.length - held, 1)
})

t.test('A control plane starts while ClickHouse accepts connections and does not answer', async t => {
  const opened: number[] = []
  const closed: number[] = []
  const port = await startRawServer(t, socket => {
    opened.push(performance.now())
    socket.on('data', () => {}).on('close', () => closed.push(performance.now()))
  })
  await startApi(t, { CLICKHOUSE_URL: `http://127.0.0.1:${port}/x`, NATS_URL: natsServer.url, ROLES: 'api,record' })
  await waitFor(() => closed.length > 0, { label: 'the end of its first connection' })
  t.ok(closed[0]! - opened[0]! < 25_000, 'it does not wait for the end of a request, which takes 30 s')
})

t.test('A database that was lost is created again, and results are recorded', async t => {
  await clickhouse.command({ query: `DROP DATABASE ${database} SYNC` })
  const id = uuidv7()
  await publish(id)
  await waitFor(() => isRecorded(id), { label: 'the result in the new database' })
  t.ok(await isRecorded(id))
})
