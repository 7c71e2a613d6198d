import { type Clickhouse, select } from '../../../foundation/platform/clickhouse.ts'
import { buildComputeDaySql, buildNextMonitorsSql, LATE_DAYS_SQL } from './hourly-sql.ts'

type HourlyProgress = {
  /** ClickHouse's clock, which also sets `recorded_at` */
  nowMs: number
  /** all days before this are computed; the beginning of a day */
  closedMs: number
  /** late results of those days are included up to this time */
  lateMs: number
}

export async function loadHourlyProgress(clickhouse: Clickhouse): Promise<HourlyProgress> {
  const [row] = await select<{ now: string; closed: string; late: string }>(
    clickhouse,
    `SELECT toUnixTimestamp64Milli(now64(3)) AS now, toUnixTimestamp64Milli(maxIf(at, name = 'closed_until')) AS closed,
       toUnixTimestamp64Milli(maxIf(at, name = 'late_until')) AS late FROM progress`,
  )
  return { nowMs: Number(row!.now), closedMs: Number(row!.closed), lateMs: Number(row!.late) }
}

export async function saveProgress(
  clickhouse: Clickhouse,
  name: 'closed_until' | 'late_until' | 'moved_until',
  atMs: number,
): Promise<void> {
  const query = `INSERT INTO progress SELECT {name:String}, fromUnixTimestamp64Milli({atMs:Int64})`
  await clickhouse.command({ query, query_params: { name, atMs } })
}

export type RecordedRange = { fromMs: number; toMs: number }

/** Computed days with results that were recorded between two times, in ms. */
export async function findLateDays(
  clickhouse: Clickhouse,
  recorded: RecordedRange,
  closedMs: number,
): Promise<number[]> {
  const rows = await select<{ dayMs: string }>(clickhouse, LATE_DAYS_SQL, { ...recorded, closedMs })
  return rows.map(({ dayMs }) => Number(dayMs))
}

export const FIRST_MONITOR_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Computes a day's hours for the next monitors after `after`, at most `limit`; with `recorded`, only for those with
 * results of that time. Returns the last monitor, null when there are no more. Repeating it changes nothing.
 */
export async function computeNextMonitors(
  clickhouse: Clickhouse,
  day: { dayMs: number; after: string; limit: number },
  recorded: RecordedRange | null,
): Promise<string | null> {
  const parameters = { ...day, ...recorded }
  const isLate = recorded !== null
  const [next] = await select<{ last: string; found: string }>(clickhouse, buildNextMonitorsSql(isLate), parameters)
  if (!next || Number(next.found) === 0) return null
  await clickhouse.command({ query: buildComputeDaySql(isLate), query_params: { ...parameters, last: next.last } })
  return next.last
}
