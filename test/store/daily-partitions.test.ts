import { setInterval as every } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { v7 as uuidv7 } from 'uuid'
import * as results from '../../control-plane/foundation/migrations/clickhouse/0001-results.ts'
import * as details from '../../control-plane/foundation/migrations/clickhouse/0002-details.ts'
import { hasDailyPartitions } from '../../control-plane/foundation/migrations/clickhouse/daily-partitions-store.ts'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { startPartitionMigrationWorker } from '../../control-plane/insight/analytics/clickhouse-jobs/partition-migration-worker.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { countCalls } from '../support/count-calls.ts'
import { waitFor } from '../support/wait.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const nowMs = Date.now()
const patient = { timeoutMs: 180_000, everyMs: 100 }

type Clickhouse = ReturnType<typeof createClickhouse>

async function database(t: Test) {
  const { url } = await createClickhouseDatabase(t)
  const clickhouse = createClickhouse(url)
  t.teardown(() => clickhouse.close())
  return { url, clickhouse }
}

function startWorker(t: Test, clickhouse: Clickhouse, dropAfterMs: number) {
  const worker = startPartitionMigrationWorker({
    clickhouse,
    dropAfterMs,
    log: createLog('test', 'silent'),
    metrics: createMetrics(),
  })
  t.teardown(() => worker.stop())
  return worker
}

async function insert(clickhouse: Clickhouse, id: string, times: { atMs: number; recordedMs: number }[]) {
  const values = times.map(({ atMs, recordedMs }) => [id, 'eu-west', atMs, 1, 'p1', 'up', 1_000, recordedMs])
  const columns = 'monitor_id, region, scheduled_at, attempt, probe_id, status, total_us, recorded_at'
  await clickhouse.insert({ table: `results (${columns})`, values, format: 'JSONCompactEachRow' })
}

async function readKeptTimes(clickhouse: Clickhouse, id: string): Promise<number[]> {
  const rows = await select<{ ms: string }>(
    clickhouse,
    'SELECT toUnixTimestamp64Milli(scheduled_at) AS ms FROM results FINAL WHERE monitor_id = {id:UUID} ORDER BY ms',
    { id },
  )
  return rows.map(({ ms }) => Number(ms))
}

const tables = async (clickhouse: Clickhouse) => {
  const query = `SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'results%' ORDER BY name`
  return (await select<{ name: string }>(clickhouse, query)).map(({ name }) => name)
}

t.test('a new database stores results in partitions of a day, which are dropped as a whole', async t => {
  const { url, clickhouse } = await database(t)
  await Promise.all(Array.from({ length: 8 }, () => migrateClickhouse(url)))
  const [table] = await select<{ engine_full: string }>(
    clickhouse,
    `SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'results'`,
  )
  t.match(table?.engine_full, /PARTITION BY toDate\(scheduled_at\).*ttl_only_drop_parts = 1/s)
  startWorker(t, clickhouse, 0)
  await waitFor(async () => (await tables(clickhouse)).length === 1, { ...patient, label: 'only one table' })
  t.same(await tables(clickhouse), ['results'])
})

t.test('ClickHouse is not asked while nothing remains but to drop the old table later', async t => {
  const { url, clickhouse } = await database(t)
  await migrateClickhouse(url)
  const counted = countCalls(clickhouse, 'query')
  const metrics = createMetrics()
  const worker = startPartitionMigrationWorker({
    clickhouse: counted.client,
    dropAfterMs: DAY_MS,
    log: createLog('test', 'silent'),
    metrics,
  })
  t.teardown(() => worker.stop())
  const rounds = async () =>
    Number(/loop="daily-partitions",outcome="ok"\} (\d+)/.exec((await metrics.render()).text)?.[1] ?? 0)
  const afterRounds = (count: number) =>
    waitFor(async () => (await rounds()) >= count, { ...patient, label: 'a round' })
  await afterRounds(1)
  t.same(await tables(clickhouse), ['results', 'results_weekly'])
  const asked = counted.calls()
  t.ok(asked > 0)
  for (const count of [2, 3]) {
    worker.wake()
    await afterRounds(count)
  }
  t.equal(counted.calls(), asked)
})

t.test('an upgrade loses no result while old ones are copied, tables swapped and workers stopped', async t => {
  const { url, clickhouse } = await database(t)
  for (const query of [...results.statements, ...details.statements]) await clickhouse.command({ query })
  const [old, live] = [uuidv7(), uuidv7()]
  const hours = Array.from({ length: 80 * 24 }, (_, i) => nowMs - (i + 1) * HOUR_MS)
  // fewer than 100 weeks in each insert
  await insert(
    clickhouse,
    old,
    hours.map(atMs => ({ atMs, recordedMs: atMs + 1_000 })),
  )
  await insert(clickhouse, old, [{ atMs: nowMs - 30 * DAY_MS + 7, recordedMs: nowMs - 25 * DAY_MS }])
  await insert(clickhouse, old, [{ atMs: Date.UTC(2299, 0, 1), recordedMs: nowMs - DAY_MS }])
  await Promise.all([migrateClickhouse(url), migrateClickhouse(url)])
  t.notOk(await hasDailyPartitions(clickhouse), 'nothing waits for the copies')
  const wanted = [...hours, nowMs - 30 * DAY_MS + 7].sort((a, b) => a - b)
  t.equal((await readKeptTimes(clickhouse, old)).length, wanted.length + 1)

  const written: number[] = []
  const writing = new AbortController()
  const writer = (async () => {
    let i = 0
    for await (const _ of every(20)) {
      if (writing.signal.aborted) return
      const atMs = nowMs - i++ * 1_000
      // an insert during the swap of the tables may fail; the recorder repeats it, and so does this test
      const insertOne = () => insert(clickhouse, live, [{ atMs, recordedMs: Date.now() }]).then(() => true)
      while (!(await insertOne().catch(() => false)));
      written.push(atMs)
    }
  })()
  const stopped = startWorker(t, clickhouse, DAY_MS)
  const moved = `SELECT count() AS n FROM progress WHERE name = 'moved_until'`
  await waitFor(async () => Number((await select<{ n: string }>(clickhouse, moved))[0]?.n) > 0, patient)
  await stopped.stop()
  const workers = [1, 2].map(() => startWorker(t, clickhouse, DAY_MS))
  await waitFor(() => hasDailyPartitions(clickhouse), { ...patient, label: 'the swap' })
  const count = written.length
  await waitFor(() => written.length > count + 20, { ...patient, label: 'results written after the swap' })
  writing.abort()
  await writer
  for (const worker of workers) await worker.stop()

  startWorker(t, clickhouse, 0)
  await waitFor(async () => (await tables(clickhouse)).length === 1, { ...patient, label: 'the end of the move' })
  t.same(await readKeptTimes(clickhouse, old), wanted, 'all that is not of another century')
  t.same(
    await readKeptTimes(clickhouse, live),
    written.toSorted((a, b) => a - b),
  )
})
