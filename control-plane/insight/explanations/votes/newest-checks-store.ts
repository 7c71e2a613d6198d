import type { CheckError, Outcome } from '../../../../shared/checks/result.ts'
import { type ClickhouseSource, select } from '../../../foundation/platform/clickhouse.ts'

/** A check as the panel of votes shows it. */
export type NewestCheckRow = {
  region: string
  probe_id: string
  scheduled_ms: string
  attempt: number
  outcome: Outcome
  total_us: number
  status_code: number
  source: CheckError['source']
  error_code: string
  error_message: string
  failed_assertions: string
}

const OF_LAST_DAY = `FROM results FINAL WHERE monitor_id = {monitor:UUID} AND scheduled_at > now() - INTERVAL 24 HOUR
  AND region IN {regions:Array(String)}`

/** The newest check of each region in the last 24 hours, whatever its result. */
export function listNewestChecks(
  clickhouse: ClickhouseSource,
  monitor: string,
  regions: readonly string[],
): Promise<NewestCheckRow[]> {
  return select<NewestCheckRow>(
    clickhouse,
    `SELECT region, probe_id, toUnixTimestamp64Milli(scheduled_at) AS scheduled_ms, attempt,
       toInt8(status) AS outcome, total_us, status_code, toInt8(error_source) AS source, error_code, error_message,
       failed_assertions
     ${OF_LAST_DAY} ORDER BY scheduled_at DESC, attempt DESC, probe_id, epoch LIMIT 1 BY region`,
    { monitor, regions },
  )
}

/** The beginning of the current run of checks with the same result. */
export type ResultRunRow = { region: string; outcome: Outcome; since_ms: string }

/**
 * For each region the newest change between up, degraded and down in the last 24 hours. Regions without a change in
 * that time are left out.
 */
export function listResultRuns(
  clickhouse: ClickhouseSource,
  monitor: string,
  regions: readonly string[],
): Promise<ResultRunRow[]> {
  return select<ResultRunRow>(
    clickhouse,
    `SELECT region, toInt8(status) AS outcome, toUnixTimestamp64Milli(scheduled_at) AS since_ms
     FROM (
       SELECT region, status, scheduled_at, attempt,
         lagInFrame(toString(status)) OVER (PARTITION BY region ORDER BY scheduled_at, attempt
           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before
       ${OF_LAST_DAY} AND status IN ('up', 'degraded', 'down')
     )
     WHERE before NOT IN ('', toString(status))
     ORDER BY scheduled_at DESC, attempt DESC LIMIT 1 BY region`,
    { monitor, regions },
  )
}
