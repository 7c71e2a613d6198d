/** SQL of the hourly latency figures. Pure text. */

/** The figures of a group of results, in ms; failed checks do not count (decisions 8.2). */
const FIGURES = `
  toUInt32(count()) AS count,
  quantilesExact(0.5, 0.75, 0.9, 0.95, 0.99)(total_us) AS q,
  q[1] / 1000 AS p50, q[2] / 1000 AS p75, q[3] / 1000 AS p90, q[4] / 1000 AS p95, q[5] / 1000 AS p99,
  min(total_us) / 1000 AS min, max(total_us) / 1000 AS max, avg(total_us) / 1000 AS avg`

const COLUMNS = 'count, p50, p75, p90, p95, p99, min, max, avg'

/**
 * Computes anew the hours, of the monitors, that got results between two times of recording. `computed_at` is how far
 * that went, not when: whoever dies while he catches up goes on there, and a later stretch has seen all of an earlier one.
 */
export const RECOMPUTE_TOUCHED = `
  INSERT INTO latency_hourly (monitor_id, hour, region, ${COLUMNS}, computed_at)
  SELECT monitor_id, hour, region, ${COLUMNS}, fromUnixTimestamp64Milli({toMs:Int64}) FROM (
    SELECT monitor_id, toStartOfHour(scheduled_at) AS hour, region, ${FIGURES}
    FROM results FINAL
    WHERE status IN ('up', 'degraded') AND (monitor_id, toStartOfHour(scheduled_at)) IN (
      SELECT DISTINCT monitor_id, toStartOfHour(scheduled_at) FROM results
      WHERE recorded_at >= fromUnixTimestamp64Milli({fromMs:Int64}) AND recorded_at < fromUnixTimestamp64Milli({toMs:Int64})
    ) AND scheduled_at >= (
      SELECT toStartOfHour(min(scheduled_at)) FROM results
      WHERE recorded_at >= fromUnixTimestamp64Milli({fromMs:Int64}) AND recorded_at < fromUnixTimestamp64Milli({toMs:Int64})
    )
    GROUP BY GROUPING SETS ((monitor_id, hour, region), (monitor_id, hour))
  )`

/**
 * Rows of one monitor from computed hours (before `liveFrom`) and straight from the results (since). `region` empty:
 * all regions together.
 */
export const LATENCY = `
  SELECT hour, region, ${COLUMNS} FROM (
    SELECT hour, region, ${COLUMNS} FROM latency_hourly FINAL
    WHERE monitor_id = {monitor:UUID} AND region = {region:String}
      AND hour >= toDateTime({from:Int64}) AND hour <= toDateTime({to:Int64}) AND hour < toDateTime({liveFrom:Int64})
    UNION ALL
    SELECT hour, {region:String} AS region, ${COLUMNS} FROM (
      SELECT toStartOfHour(scheduled_at) AS hour, ${FIGURES}
      FROM results FINAL
      WHERE monitor_id = {monitor:UUID} AND ({region:String} = '' OR region = {region:String})
        AND status IN ('up', 'degraded') AND scheduled_at >= toDateTime({liveFrom:Int64})
        AND scheduled_at >= toDateTime({from:Int64}) AND scheduled_at < toDateTime({to:Int64}) + INTERVAL 1 HOUR
      GROUP BY hour
    )
  ) ORDER BY hour`
