/**
 * The CPU time of ClickHouse per minute for the hourly figures: the search for late results each minute, and the portion of 500
 * monitors that is computed once a day, with the results of six regions at 30 s.
 */

import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import {
  computeNextMonitors,
  FIRST_MONITOR_ID,
  findLateDays,
  loadHourlyProgress,
} from '../../control-plane/insight/analytics/clickhouse-jobs/hourly-store.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import type { Teardown } from '../support/teardown.ts'
import { cpuUs, type Engines, type Figure, figure, percentile } from './rig.ts'

const DAY_MS = 24 * 3_600_000
const MONITORS = 500
const REGIONS = 6
const SLOTS = 2_880
const RESULTS = MONITORS * REGIONS * SLOTS
const INSERTS = 48
const ROUNDS = 5
const SEARCHES = 20

export async function benchHourly(t: Teardown, { clickhouse: pid }: Engines): Promise<Figure[]> {
  const { url } = await createClickhouseDatabase(t)
  await migrateClickhouse(url)
  const clickhouse = createClickhouse(url)
  t.teardown(() => clickhouse.close())
  const dayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS
  for (let i = 0; i < INSERTS; i++) await clickhouse.command({ query: buildInsert(i), query_params: { dayMs } })

  const portions: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    portions.push(
      await measureCpuMs(pid, () =>
        computeNextMonitors(clickhouse, { dayMs, after: FIRST_MONITOR_ID, limit: MONITORS }, null),
      ),
    )
  }
  const searches: number[] = []
  for (let i = 0; i < SEARCHES; i++) {
    searches.push(
      await measureCpuMs(pid, async () => {
        const { nowMs } = await loadHourlyProgress(clickhouse)
        await findLateDays(clickhouse, { fromMs: nowMs + DAY_MS, toMs: nowMs + 2 * DAY_MS }, dayMs)
      }),
    )
  }
  const search = searches.reduce((sum, ms) => sum + ms, 0) / SEARCHES
  const portion = percentile(portions, 0.5)
  const ofAMinute = (rate: number) => search + ((rate * 86_400) / RESULTS / 1_440) * portion
  const at = (rate: number) => `${ofAMinute(rate).toFixed(0)} ms`
  return [
    figure(
      'hourly figures: CPU time per minute at 2,000 results a second',
      `${at(2_000)}: a search each minute ${search.toFixed(0)} ms, and ${Math.round((2_000 * 86_400) / RESULTS)} portions a day of ${(portion / 1_000).toFixed(1)} s for ${(RESULTS / 1e6).toFixed(1)} million results each`,
      '≤ 50 ms',
      ofAMinute(2_000) <= 50,
    ),
    figure('  at 100,000 a second, on this machine', at(100_000)),
  ]
}

/** Inserts a part of the day for all monitors. Response times have a realistic distribution. */
const buildInsert = (part: number) => `
  INSERT INTO results (monitor_id, region, scheduled_at, attempt, probe_id, epoch, status, started_at, total_us, status_code)
  SELECT toUUID(concat('0192f000-0000-7000-8000-', substring(lower(hex(cityHash64(series % ${MONITORS}))), 1, 12))) AS monitor_id,
    concat('region-', toString(intDiv(series, ${MONITORS}))) AS region,
    fromUnixTimestamp64Milli({dayMs:Int64} + slot * 30000 + cityHash64(series) % 30000) AS scheduled_at, 1,
    concat('probe-', toString(series % 12)), 1, 'up', scheduled_at, toUInt32(exp(randNormal(11, 0.5, number))), 200
  FROM (
    SELECT number, number % ${MONITORS * REGIONS} AS series,
      intDiv(number, ${MONITORS * REGIONS}) + ${(part * SLOTS) / INSERTS} AS slot
    FROM numbers(${RESULTS / INSERTS})
  )`

/** CPU time of ClickHouse, which does not depend on other load. */
async function measureCpuMs(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = cpuUs(pid)
  await work()
  return (cpuUs(pid) - before) / 1_000
}
