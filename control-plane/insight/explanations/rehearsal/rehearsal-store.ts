import { Trigger } from '../../../../shared/checks/result.ts'
import { type ClickhouseSource, select, streamRows } from '../../../foundation/platform/clickhouse.ts'
import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import { UNCHECKED_SUMMARY } from '../../../verdict/core/unknown-status/unchecked.ts'
import type { AttemptRow } from './attempt-row.ts'
import type { RegionChange, StoredPolicy, StoredStep } from './replay/types.ts'

/** A span of time, in ms. */
type Span = { fromMs: number; toMs: number }

const IN_SPAN = `monitor_id = {monitor:UUID} AND scheduled_at >= fromUnixTimestamp64Milli({fromMs:Int64})
  AND scheduled_at < fromUnixTimestamp64Milli({toMs:Int64})`

/** The number of results that were scheduled in a span. */
export async function countAttempts(clickhouse: ClickhouseSource, monitor: string, span: Span): Promise<number> {
  const sql = `SELECT count() AS n FROM results WHERE ${IN_SPAN}`
  const [row] = await select<{ n: string }>(clickhouse, sql, { monitor, ...span })
  return Number(row!.n)
}

/**
 * The results that the verdict read, and the checks of witnesses, in the order in which JetStream took them, a few hundred
 * at a time, not parsed yet. For results without a stored arrival, it is the end of the check.
 */
export function streamAttempts(
  clickhouse: ClickhouseSource,
  monitor: string,
  span: Span,
): AsyncGenerator<{ json(): AttemptRow }[]> {
  return streamRows<AttemptRow>(
    clickhouse,
    `SELECT * FROM (
        SELECT region, probe_id, epoch, config_version, toUnixTimestamp64Milli(scheduled_at) AS scheduled_ms, attempt,
          toInt8(status) AS outcome, trigger, total_us, dns_us, connect_us, tls_us, first_byte_us, transfer_us,
          status_code, toInt8(error_source) AS source, toString(error_code) AS error_code, failed_assertions, is_doubted,
          if(sequence > 0, toUnixTimestamp64Milli(taken_at),
            toUnixTimestamp64Milli(started_at) + intDiv(total_us, 1000)) AS taken_ms,
          sequence, sequence > 0 AS is_stored
        FROM results FINAL WHERE ${IN_SPAN} AND is_late = 0
        UNION ALL
        SELECT region, probe_id, epoch, config_version, toUnixTimestamp64Milli(scheduled_at), attempt,
          toInt8(status), toUInt8(${Trigger.WITNESS}), total_us, 0, 0, 0, 0, 0,
          status_code, toInt8(error_source), toString(error_code), '', toUInt8(0),
          toUnixTimestamp64Milli(taken_at), sequence, toUInt8(1)
        FROM witness_checks FINAL WHERE ${IN_SPAN})
      ORDER BY taken_ms, sequence, scheduled_ms, attempt`,
    { monitor, ...span },
  )
}

/** The policies since `fromMs`, and the one before, in ascending order. */
export function listPolicies(db: Db, monitorId: string, { fromMs, toMs }: Span): Promise<StoredPolicy[]> {
  return query(
    db,
    `SELECT CAST(extract(epoch FROM at) * 1000 AS float8) AS "atMs", config_version AS "configVersion",
       streaks_since AS "streaksSince", regions, retry_count AS "retryCount", interval_seconds AS "intervalSeconds",
       timeout_ms AS "timeoutMs", witness, is_paused AS "isPaused"
     FROM monitor_policies
     WHERE monitor_id = :monitorId AND at < to_timestamp(CAST(:toMs AS float8) / 1000)
       AND at >= coalesce((SELECT max(at) FROM monitor_policies WHERE monitor_id = :monitorId
                           AND at <= to_timestamp(CAST(:fromMs AS float8) / 1000)), '-infinity')
     ORDER BY at, config_version`,
    { monitorId, fromMs, toMs },
  )
}

/** The changes of live sets since `fromMs` and the one before of each region, in ascending order: the newest `limit` a region. */
export function listRegionChanges(
  db: Db,
  regions: readonly string[],
  { fromMs, toMs }: Span,
  limit: number,
): Promise<RegionChange[]> {
  return query(
    db,
    `SELECT c.region, CAST(extract(epoch FROM c.at) * 1000 AS float8) AS "atMs", c.epoch, c.probe_ids AS "probeIds",
       CAST(extract(epoch FROM c.absent_from) * 1000 AS float8) AS "absentFromMs",
       CAST(extract(epoch FROM c.absent_until) * 1000 AS float8) AS "absentUntilMs"
     FROM unnest(CAST(:regions AS text[])) AS wanted (region)
     CROSS JOIN LATERAL (
       SELECT * FROM region_changes r
       WHERE r.region = wanted.region AND r.at < to_timestamp(CAST(:toMs AS float8) / 1000)
         AND r.at >= coalesce((SELECT max(at) FROM region_changes WHERE region = wanted.region
                               AND at <= to_timestamp(CAST(:fromMs AS float8) / 1000)), '-infinity')
       ORDER BY r.at DESC, r.epoch DESC LIMIT :limit) c
     ORDER BY c.region, c.at, c.epoch`,
    { regions: [...regions], fromMs, toMs, limit },
  )
}

/** How many transitions before the span are read, to find the status and the outage with which it begins. */
const STEPS_BEFORE = 50

/** The transitions of a span and some before it, in ascending order: the newest `limit` of the span. */
export async function listStoredSteps(
  db: Db,
  { projectId, monitorId }: { projectId: string; monitorId: string },
  { fromMs, toMs }: Span,
  limit: number,
): Promise<StoredStep[]> {
  const columns = `CAST(extract(epoch FROM at) * 1000 AS float8) AS "atMs", to_status AS "to", summary,
    explanation->'timings'->>'first_failure_at' AS "firstFailureAt",
    CAST(extract(epoch FROM created_at) * 1000 AS float8) AS "knownAtMs", at, id`
  const rows = await query<
    Omit<StoredStep, 'kind' | 'firstFailureMs'> & { summary: string; firstFailureAt: string | null }
  >(
    db,
    `SELECT * FROM (
       (SELECT ${columns} FROM transitions WHERE project_id = :projectId AND monitor_id = :monitorId
          AND at >= to_timestamp(CAST(:fromMs AS float8) / 1000) AND at < to_timestamp(CAST(:toMs AS float8) / 1000)
        ORDER BY at DESC, id DESC LIMIT :limit)
       UNION ALL
       (SELECT ${columns} FROM transitions WHERE project_id = :projectId AND monitor_id = :monitorId
          AND at < to_timestamp(CAST(:fromMs AS float8) / 1000)
        ORDER BY at DESC, id DESC LIMIT :before)) AS steps
     ORDER BY at, id`,
    { projectId, monitorId, fromMs, toMs, limit, before: STEPS_BEFORE },
  )
  return rows.map(({ atMs, to, summary, firstFailureAt, knownAtMs }) => ({
    atMs,
    to,
    knownAtMs,
    kind: to !== null ? 'verdict' : summary.startsWith(UNCHECKED_SUMMARY) ? 'unchecked' : 'removed',
    firstFailureMs: firstFailureAt === null ? null : Date.parse(firstFailureAt),
  }))
}
