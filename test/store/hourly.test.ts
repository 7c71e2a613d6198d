import t, { type Test } from 'tap'
import { v7 as uuidv7 } from 'uuid'
import * as results from '../../control-plane/foundation/migrations/clickhouse/0001-results.ts'
import * as details from '../../control-plane/foundation/migrations/clickhouse/0002-details.ts'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { LATE_DAYS_SQL } from '../../control-plane/insight/analytics/clickhouse-jobs/hourly-sql.ts'
import { saveProgress } from '../../control-plane/insight/analytics/clickhouse-jobs/hourly-store.ts'
import {
  createHourlyRound,
  startHourlyWorker,
} from '../../control-plane/insight/analytics/clickhouse-jobs/hourly-worker.ts'
import type { LatencyRow } from '../../control-plane/insight/analytics/latency/latency-response.ts'
import { listLatency } from '../../control-plane/insight/analytics/latency/latency-store.ts'
import { loadDailyMedians } from '../../control-plane/pages/public/view/page-data-store.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { waitFor } from '../support/wait.ts'

await awayFromMidnight()

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
  const [liveFrom, oldest] = [liveFromMs / 1_000, (todayMs - 90 * DAY_MS) / 1_000]
  return listLatency(clickhouse, { monitor, region, from: hour, to: hour, liveFrom, oldest })
}
const computed = (clickhouse: Clickhouse, monitor: string, hourMs: number, region = '') =>
  read(clickhouse, monitor, hourMs, hourMs + HOUR_MS, region)

const loadProgress = async (clickhouse: Clickhouse, name: 'closed_until' | 'late_until') => {
  const sql = 'SELECT toUnixTimestamp64Milli(max(at)) AS ms FROM progress WHERE name = {name:String}'
  const [row] = await select<{ ms: string }>(clickhouse, sql, { name })
  return Number(row!.ms)
}
const closedUntil = (clickhouse: Clickhouse) => loadProgress(clickhouse, 'closed_until')

type Portion = { isLate: boolean; dayMs: number; last: string; limit: number }

/** Calls `observe` before a portion is computed; when it throws, the portion fails. */
function observePortions(clickhouse: Clickhouse, observe: (portion: Portion) => void) {
  const command = clickhouse.command.bind(clickhouse)
  clickhouse.command = async params => {
    const { query, query_params = {} } = params
    const { dayMs, last, limit } = query_params as Portion
    if (query.includes('INTO latency_hourly')) observe({ dayMs, last, limit, isLate: 'fromMs' in query_params })
    return command(params)
  }
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

/** One late result of each of 30 monitors for a computed day, and a day of four monitors that is due. */
async function insertLateAndDue(clickhouse: Clickhouse) {
  const ids = Array.from({ length: 30 }, () => uuidv7())
  const [lateDayMs, dueDayMs] = [todayMs - 5 * DAY_MS, todayMs - 2 * DAY_MS]
  const [lateMs, earlierMs] = [Date.now() - HOUR_MS / 2, Date.now() - 5 * HOUR_MS]
  await insert(clickhouse, [
    ...ids.map(id => ({ id, atMs: lateDayMs + HOUR_MS, us: 1_000, recordedMs: lateMs })),
    ...ids.slice(0, 4).map(id => ({ id, atMs: dueDayMs + HOUR_MS, us: 2_000, recordedMs: earlierMs })),
  ])
  await setProgress(clickhouse, dueDayMs, Date.now() - HOUR_MS)
  return { ids, lateDayMs, dueDayMs }
}

t.test('Late results that take many rounds are counted once each, and the next day is computed meanwhile', async t => {
  const clickhouse = await migrated(t)
  const { ids, lateDayMs, dueDayMs } = await insertLateAndDue(clickhouse)
  let round = new AbortController()
  const reached: string[] = []
  observePortions(clickhouse, ({ isLate, last }) => {
    if (isLate && reached.push(last) % 2 === 0) round.abort()
  })
  const work = createHourlyRound({ clickhouse, monitorsAtOnce: 2 })
  const runRounds = async (rounds: number) => {
    for (let i = 0; i < rounds; i++) {
      round = new AbortController()
      await work(round.signal)
    }
  }
  await runRounds(3)
  t.equal(reached.length, 6, 'late results are not finished')
  t.ok((await closedUntil(clickhouse)) > dueDayMs, 'the day that was due is closed')
  for (const id of ids.slice(0, 4)) t.match(await computed(clickhouse, id, dueDayMs + HOUR_MS), [{ count: 1, p50: 2 }])

  await insert(clickhouse, [{ id: ids[0]!, atMs: lateDayMs + 2 * HOUR_MS, us: 3_000 }])
  const beforeMs = await loadProgress(clickhouse, 'late_until')
  await runRounds(5)
  t.equal(reached.length, 15, 'each portion is computed')
  t.equal(new Set(reached).size, 15, 'and only once')
  for (const id of ids) t.match(await computed(clickhouse, id, lateDayMs + HOUR_MS), [{ count: 1, p50: 1 }])
  t.ok((await loadProgress(clickhouse, 'late_until')) > beforeMs, 'the progress is saved')
  await runRounds(1)
  const arrived = await computed(clickhouse, ids[0]!, lateDayMs + 2 * HOUR_MS)
  t.match(arrived, [{ count: 1, p50: 3 }], 'a result that arrived meanwhile is counted')
})

t.test('Late results that cannot be computed do not delay the next day, and the reverse', async t => {
  const clickhouse = await migrated(t)
  const { ids, lateDayMs, dueDayMs } = await insertLateAndDue(clickhouse)
  let isLateBroken = false
  observePortions(clickhouse, ({ isLate }) => {
    if (isLate === isLateBroken) throw new Error('out of memory')
  })
  const work = createHourlyRound({ clickhouse, monitorsAtOnce: 40 })
  await t.rejects(work(new AbortController().signal), /out of memory/)
  t.match(await computed(clickhouse, ids[29]!, lateDayMs + HOUR_MS), [{ count: 1 }], 'the late results')
  await setProgress(clickhouse, dueDayMs, Date.now() - HOUR_MS)
  isLateBroken = true
  const again = createHourlyRound({ clickhouse, monitorsAtOnce: 40 })
  for (let i = 0; i < 2; i++) await t.rejects(again(new AbortController().signal), /out of memory/)
  t.ok((await closedUntil(clickhouse)) > dueDayMs, 'the day that was due')
})

t.test('Portions become smaller after a failure, and grow again after a success', async t => {
  const clickhouse = await migrated(t)
  const atMs = todayMs - 2 * DAY_MS + HOUR_MS
  const samples = Array.from({ length: 90 }, () => ({ id: uuidv7(), atMs, us: 1_000, recordedMs: atMs }))
  await insert(clickhouse, samples)
  await setProgress(clickhouse, todayMs - 2 * DAY_MS, Date.now())
  const limits: number[] = []
  observePortions(clickhouse, ({ limit }) => {
    if (limits.push(limit) < 3) throw new Error('out of memory')
  })
  const work = createHourlyRound({ clickhouse, monitorsAtOnce: 40 })
  for (let i = 0; i < 2; i++) await t.rejects(work(new AbortController().signal), /out of memory/)
  await work(new AbortController().signal)
  t.same(limits, [40, 20, 10, 12, 15, 18, 22, 27])
  t.ok((await closedUntil(clickhouse)) > todayMs - 2 * DAY_MS)
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
