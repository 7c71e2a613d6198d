import t, { type Test } from 'tap'
import { v7 as uuidv7 } from 'uuid'
import * as results from '../../control-plane/foundation/migrations/clickhouse/0001-results.ts'
import * as details from '../../control-plane/foundation/migrations/clickhouse/0002-details.ts'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { LATE_DAYS_SQL } from '../../control-plane/insight/analytics/clickhouse-jobs/hourly-sql.ts'
import { saveProgress } from '../../control-plane/insight/analytics/clickhouse-jobs/hourly-store.ts'
import { startHourlyWorker } from '../../control-plane/insight/analytics/clickhouse-jobs/hourly-worker.ts'
import type { LatencyRow } from '../../control-plane/insight/analytics/latency/latency-response.ts'
import { listLatency } from '../../control-plane/insight/analytics/latency/latency-store.ts'
import { loadDailyMedians } from '../../control-plane/pages/public/view/page-data-store.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { waitFor } from '../support/wait.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
const patient = { timeoutMs: 120_000 }

async function migrated(t: Test) {
  const { url } = await createClickhouseDatabase(t)
  const clickhouse = createClickhouse(url)
  t.teardown(() => clickhouse.close())
  await migrateClickhouse(url)
  return clickhouse
}

type Clickhouse = ReturnType<typeof createClickhouse>
type Sample = { id: string; atMs: number; us: number; region?: string; status?: string; recordedMs?: number }

async function insert(clickhouse: Clickhouse, samples: Sample[]) {
  const values = samples.map(({ id, atMs, us, region = 'eu-west', status = 'up', recordedMs = Date.now() }) => [
    ...[id, region, atMs, 1, 'p1', status, us],
    recordedMs,
  ])
  const columns = 'monitor_id, region, scheduled_at, attempt, probe_id, status, total_us, recorded_at'
  await clickhouse.insert({ table: `results (${columns})`, values, format: 'JSONCompactEachRow' })
}

function startWorker(t: Test, clickhouse: Clickhouse, monitorsAtOnce?: number) {
  const tools = { clickhouse, log: createLog('test', 'silent'), metrics: createMetrics() }
  const worker = startHourlyWorker({ ...tools, ...(monitorsAtOnce && { monitorsAtOnce }) })
  t.teardown(() => worker.stop())
  return worker
}

const read = (clickhouse: Clickhouse, monitor: string, hourMs: number, liveFromMs: number, region = '') => {
  const hour = hourMs / 1_000
  return listLatency(clickhouse, { monitor, region, from: hour, to: hour, liveFrom: liveFromMs / 1_000 })
}
const computed = (clickhouse: Clickhouse, monitor: string, hourMs: number, region = '') =>
  read(clickhouse, monitor, hourMs, hourMs + HOUR_MS, region)

const closedUntil = async (clickhouse: Clickhouse) => {
  const [row] = await select<{ ms: string }>(
    clickhouse,
    `SELECT toUnixTimestamp64Milli(max(at)) AS ms FROM progress WHERE name = 'closed_until'`,
  )
  return Number(row!.ms)
}

async function setProgress(clickhouse: Clickhouse, closedMs: number, lateMs: number) {
  await clickhouse.command({ query: 'TRUNCATE TABLE progress' })
  await saveProgress(clickhouse, 'closed_until', closedMs)
  await saveProgress(clickhouse, 'late_until', lateMs)
}

/** Realistic response times: most similar, some ten times slower, a few at the limit. */
const times = Array.from(
  { length: 120 },
  (_, i) => 20_000 + ((i * 7_919) % 120) ** 2 * 10 + (i % 40 === 0 ? 900_000 : 0),
)

t.test('The figures of a computed day are exact, without failures, and count each result once', async t => {
  const clickhouse = await migrated(t)
  const id = uuidv7()
  const hourMs = todayMs - 3 * DAY_MS + 5 * HOUR_MS
  const samples = times.map((us, i) => ({ id, atMs: hourMs + i * 30_000, us }))
  await insert(clickhouse, samples)
  await insert(clickhouse, samples)
  await insert(clickhouse, [{ id, atMs: hourMs + 7, us: 500_000, region: 'us-east' }])
  await insert(clickhouse, [{ id, atMs: hourMs + 9, us: 30_000_000, status: 'down' }])
  await setProgress(clickhouse, todayMs - 3 * DAY_MS, Date.now())

  const live = await read(clickhouse, id, hourMs, hourMs, 'eu-west')
  t.match(live, [{ count: 120, p99: times.toSorted((a, b) => a - b)[Math.floor(0.99 * 120)]! / 1_000 }])
  const worker = startWorker(t, clickhouse)
  await waitFor(async () => (await closedUntil(clickhouse)) >= todayMs - DAY_MS, { ...patient, label: 'computed days' })
  t.same(await computed(clickhouse, id, hourMs, 'eu-west'), live)
  t.match(await computed(clickhouse, id, hourMs), [{ count: 121 }], 'all regions together')

  await insert(clickhouse, [{ id, atMs: hourMs + 11, us: 60_000_000 }])
  await insert(clickhouse, samples)
  const isCounted = async () => {
    worker.wake()
    const [row] = await computed(clickhouse, id, hourMs, 'eu-west')
    return (row as LatencyRow).max === 60_000
  }
  await waitFor(isCounted, { ...patient, everyMs: 200, label: 'the late result' })
  t.match(await computed(clickhouse, id, hourMs, 'eu-west'), [{ count: 121 }], 'and a repeated result counts once')
})

t.test('Waiting days are computed one after the other, in portions, also after a worker stopped', async t => {
  const clickhouse = await migrated(t)
  const ids = Array.from({ length: 50 }, () => uuidv7())
  const daysMs = [5, 4, 3, 2].map(days => todayMs - days * DAY_MS)
  await insert(
    clickhouse,
    daysMs.flatMap(dayMs => ids.map(id => ({ id, atMs: dayMs + 3 * HOUR_MS + 500, us: 1_000 }))),
  )
  await setProgress(clickhouse, daysMs[0]!, Date.now() - HOUR_MS)
  const [first, second] = [startWorker(t, clickhouse, 7), startWorker(t, clickhouse, 20)]
  await waitFor(async () => (await closedUntil(clickhouse)) > daysMs[0]!, { ...patient, label: 'the first day' })
  await first.stop()
  const isDone = async () => {
    second.wake()
    return (await closedUntil(clickhouse)) >= todayMs - DAY_MS
  }
  await waitFor(isDone, { ...patient, everyMs: 200, label: 'all days' })
  for (const dayMs of daysMs)
    for (const id of ids) t.match(await computed(clickhouse, id, dayMs + 3 * HOUR_MS), [{ count: 1 }])
})

t.test('The search for late results does not read days without late results', async t => {
  const clickhouse = await migrated(t)
  const query = `INSERT INTO results (monitor_id, region, scheduled_at, attempt, probe_id, status, total_us, recorded_at)
    SELECT {id:UUID}, 'eu-west', fromUnixTimestamp64Milli({dayMs:Int64} + number * 80), 1, 'p1', 'up', 1000,
      now64(3) - INTERVAL 2 DAY FROM numbers(1000000)`
  await clickhouse.command({ query, query_params: { id: uuidv7(), dayMs: todayMs - 3 * DAY_MS } })
  const rowsRead = async (fromMs: number) => {
    const query_params = { closedMs: todayMs, fromMs, toMs: Date.now() + HOUR_MS }
    const answer = await clickhouse.query({ query: LATE_DAYS_SQL, query_params, format: 'JSON' })
    return (await answer.json()).statistics?.rows_read ?? 0
  }
  t.ok((await rowsRead(Date.now() - 3 * DAY_MS)) >= 1_000_000, 'recently written results')
  const quiet = await rowsRead(Date.now() + HOUR_MS)
  t.ok(quiet < 1_000, `${quiet} rows read when nothing was written since`)
})

t.test('A status page shows the median of days that are not computed yet', async t => {
  const clickhouse = await migrated(t)
  const id = uuidv7()
  const from = new Date(todayMs - 10 * DAY_MS)
  await insert(
    clickhouse,
    [1, 2, 30].map(ms => ({ id, atMs: todayMs + ms, us: ms * 1_000 })),
  )
  const today = new Date(todayMs).toISOString().slice(0, 10)
  t.same([...(await loadDailyMedians(clickhouse, [id], from)).get(id)!], [[today, 2]])
})

t.test('An upgrade keeps computed hours and continues where the previous version stopped', async t => {
  const { url } = await createClickhouseDatabase(t)
  const clickhouse = createClickhouse(url)
  t.teardown(() => clickhouse.close())
  for (const query of [...results.statements, ...details.statements]) await clickhouse.command({ query })
  const id = uuidv7()
  const [oldMs, newMs] = [todayMs - 200 * DAY_MS, todayMs - 3 * DAY_MS]
  const hour = (ms: number) => [id, ms / 1_000, '', 7, 1, 2, 3, 4, 5, 6, 7, 8, newMs - HOUR_MS]
  await clickhouse.insert({ table: 'latency_hourly', values: [hour(oldMs)], format: 'JSONCompactEachRow' })
  await insert(clickhouse, [{ id, atMs: newMs + HOUR_MS, us: 9_000 }])
  await Promise.all([migrateClickhouse(url), migrateClickhouse(url)])
  t.equal(await closedUntil(clickhouse), newMs - DAY_MS)
  startWorker(t, clickhouse)
  const isDone = async () => (await closedUntil(clickhouse)) >= todayMs - DAY_MS
  await waitFor(isDone, { ...patient, label: 'the days since' })
  t.match(await computed(clickhouse, id, oldMs), [{ count: 7, p50: 1 }])
  t.match(await computed(clickhouse, id, newMs + HOUR_MS), [{ count: 1, p50: 9 }])
})
