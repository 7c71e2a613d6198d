/** SQL of the latency figures. Pure text. */

/** The figures of a group of results, in ms; failed checks do not count (docs/design/history.md#hourly-figures). */
const LEVELS = '0.5, 0.75, 0.9, 0.95, 0.99'
const PERCENTILES = `
  q[1] / 1000 AS p50, q[2] / 1000 AS p75, q[3] / 1000 AS p90, q[4] / 1000 AS p95, q[5] / 1000 AS p99`
const FIGURES = `
  toUInt32(count()) AS count, quantilesExact(${LEVELS})(total_us) AS q, ${PERCENTILES},
  min(total_us) / 1000 AS min, max(total_us) / 1000 AS max, avg(total_us) / 1000 AS avg`

/** The same in two steps, by region and then over all regions: half the work of grouping each result twice. */
const STATES = `
  count() AS n, quantilesExactState(${LEVELS})(total_us) AS state, min(total_us) AS least, max(total_us) AS most,
  sum(total_us) AS total`
const MERGED_FIGURES = `
  toUInt32(sum(n)) AS count, quantilesExactMerge(${LEVELS})(state) AS q, ${PERCENTILES},
  min(least) / 1000 AS min, max(most) / 1000 AS max, sum(total) / sum(n) / 1000 AS avg`

const COLUMNS = 'count, p50, p75, p90, p95, p99, min, max, avg'

const DAY = `scheduled_at >= fromUnixTimestamp64Milli({dayMs:Int64})
  AND scheduled_at < fromUnixTimestamp64Milli({dayMs:Int64}) + INTERVAL 1 DAY`

/**
 * Results recorded between two times. Parts that were not written since are not opened; late results are rare, so most
 * parts of past days are skipped.
 */
const RECORDED = `
  _part IN (
    SELECT name FROM system.parts WHERE active AND database = currentDatabase() AND table = 'results'
      AND modification_time >= toDateTime(intDiv({fromMs:Int64}, 1000))
  ) AND recorded_at >= fromUnixTimestamp64Milli({fromMs:Int64}) AND recorded_at < fromUnixTimestamp64Milli({toMs:Int64})`

/** Days before `closedMs`, in ms, with results that were recorded between two times. */
export const LATE_DAYS_SQL = `
  SELECT DISTINCT toUnixTimestamp(toStartOfDay(scheduled_at)) * 1000 AS dayMs FROM results
  WHERE scheduled_at < fromUnixTimestamp64Milli({closedMs:Int64}) AND ${RECORDED} ORDER BY dayMs`

/**
 * The last of the next monitors after `after` that have results of a day; with `isLate`, results recorded between two
 * times. Empty when there are no more. Monitors are in ClickHouse's order of UUIDs.
 */
export const buildNextMonitorsSql = (isLate: boolean) => `
  SELECT toString(max(monitor_id)) AS last, count() AS found FROM (
    SELECT DISTINCT monitor_id FROM results
    WHERE ${DAY} AND monitor_id > {after:UUID} ${isLate ? `AND ${RECORDED}` : ''}
    ORDER BY monitor_id LIMIT {limit:UInt32}
  )`

/**
 * Computes the hours of a day for the monitors after `after` up to `last`; with `isLate`, only for those with late
 * results. Its time limit is shorter than the client's.
 */
export const buildComputeDaySql = (isLate: boolean) => `
  INSERT INTO latency_hourly (monitor_id, hour, region, ${COLUMNS}, computed_at)
  SELECT monitor_id, hour, region, ${COLUMNS}, now64(3) FROM (
    SELECT monitor_id, hour, region, ${MERGED_FIGURES} FROM (
      SELECT monitor_id, toStartOfHour(scheduled_at) AS hour, region, ${STATES}
      FROM results FINAL
      WHERE status IN ('up', 'degraded') AND ${DAY} AND monitor_id > {after:UUID} AND monitor_id <= {last:UUID}
        ${isLate ? `AND monitor_id IN (SELECT monitor_id FROM results WHERE ${DAY} AND ${RECORDED})` : ''}
      GROUP BY monitor_id, hour, region
    ) GROUP BY GROUPING SETS ((monitor_id, hour, region), (monitor_id, hour))
  )
  SETTINGS do_not_merge_across_partitions_select_final = 1, max_execution_time = 25`

/**
 * Rows of one monitor: computed hours, and from `live` on hours from the results. `live` is `liveFrom`, or the end of the
 * computed days if that is earlier, but not before `oldest`, the age of deleted results. `region` empty: all regions
 * together.
 */
export const LATENCY_SQL = `
  WITH (
    SELECT greatest(toDateTime({oldest:Int64}), least(toDateTime({liveFrom:Int64}), toDateTime(max(at))))
    FROM progress WHERE name = 'closed_until'
  ) AS live
  SELECT hour, region, ${COLUMNS} FROM (
    SELECT hour, region, ${COLUMNS} FROM latency_hourly FINAL
    WHERE monitor_id = {monitor:UUID} AND region = {region:String}
      AND hour >= toDateTime({from:Int64}) AND hour <= toDateTime({to:Int64}) AND hour < live
    UNION ALL
    SELECT hour, {region:String} AS region, ${COLUMNS} FROM (
      SELECT toStartOfHour(scheduled_at) AS hour, ${FIGURES}
      FROM results FINAL
      WHERE monitor_id = {monitor:UUID} AND ({region:String} = '' OR region = {region:String})
        AND status IN ('up', 'degraded') AND scheduled_at >= live
        AND scheduled_at >= toDateTime({from:Int64}) AND scheduled_at < toDateTime({to:Int64}) + INTERVAL 1 HOUR
      GROUP BY hour
    )
  ) ORDER BY hour`

const HAS_PHASES = 'dns_us + connect_us + tls_us + first_byte_us + transfer_us > 0'
const PHASES = ['dns', 'connect', 'tls', 'first_byte', 'transfer']
  .map(phase => `avgIf(${phase}_us, ${HAS_PHASES}) / 1000 AS ${phase}`)
  .join(', ')

const STEP_AT = 'intDiv(toUnixTimestamp(scheduled_at), {step:UInt32}) * {step:UInt32}'

/** The results of one monitor from `from` to `to`, in seconds; `region` empty: of all regions. */
const RESULTS_OF_RANGE = `
  results FINAL
  WHERE monitor_id = {monitor:UUID} AND ({region:String} = '' OR region = {region:String})
    AND scheduled_at >= toDateTime({from:Int64}) AND scheduled_at < toDateTime({to:Int64})`

/** Rows of one monitor in steps of `step` seconds, from the results. Phases are averages of the checks that have them. */
export const LATENCY_STEPS_SQL = `
  SELECT at, {region:String} AS region, ${COLUMNS}, phased, dns, connect, tls, first_byte, transfer FROM (
    SELECT ${STEP_AT} AS at, ${FIGURES}, toUInt32(countIf(${HAS_PHASES})) AS phased, ${PHASES}
    FROM ${RESULTS_OF_RANGE} AND status IN ('up', 'degraded')
    GROUP BY at
  ) ORDER BY at`

/** Checks by step and latency: those below each bound (in µs), and those above all; and checks that failed. */
export const HEATMAP_SQL = `
  WITH length({bounds:Array(UInt32)}) + 1 AS buckets
  SELECT ${STEP_AT} AS at,
    arrayMap(sum -> toUInt32(sum), arrayResize(sumForEachIf(
      arrayMap(i -> i = arrayCount(bound -> bound <= total_us, {bounds:Array(UInt32)}), range(buckets)),
      status IN ('up', 'degraded')), buckets)) AS counts,
    toUInt32(countIf(status = 'down')) AS failed
  FROM ${RESULTS_OF_RANGE} AND status IN ('up', 'degraded', 'down')
  GROUP BY at ORDER BY at`
