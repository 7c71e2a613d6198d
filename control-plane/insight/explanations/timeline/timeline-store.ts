import { DELIVERIES_OF_INCIDENT } from '../../../alerting/deliveries/log/about.ts'
import type { DeliveryStatus, LoggedAttempt } from '../../../alerting/deliveries/types.ts'
import { type ClickhouseSource, select } from '../../../foundation/platform/clickhouse.ts'
import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { MonitorStatus } from '../../../monitoring/monitors/types.ts'
import type { Explanation } from '../../../verdict/core/types.ts'
import type { NewestCheckRow } from '../votes/newest-checks-store.ts'
import type { CheckSpans } from './time-spans.ts'

/** Monitors of one project, and a time range of which both ends are included. */
type Scope = { projectId: string; monitorIds: string[]; from: Date; to: Date }

export type TimelineTransition = {
  id: string
  monitor_id: string
  from: MonitorStatus | null
  to: MonitorStatus | null
  at: Date
  quorum: 'full' | 'reduced'
  summary: string
  has_explanation: boolean
  /** null: it was deleted, or the transition is not one of the first `MAX_EXPLAINED` */
  explanation: Explanation | null
  /** the first failure behind the change, as stored in the explanation */
  first_failure_at: Date | null
  interval_seconds: number
}

/** An explanation has a few kB for each region. */
const MAX_EXPLAINED = 20

/** The transitions of monitors, oldest first. */
export function listTransitionsBetween(db: Db, scope: Scope, limit: number): Promise<TimelineTransition[]> {
  return query(
    db,
    `SELECT t.id, t.monitor_id, t.from_status AS "from", t.to_status AS "to", t.at, t.quorum, t.summary,
       t.explanation IS NOT NULL AS has_explanation, m.interval_seconds,
       CASE WHEN row_number() OVER (ORDER BY t.at, t.id) <= :explained THEN t.explanation END AS explanation,
       CAST(t.explanation->'timings'->>'first_failure_at' AS timestamptz) AS first_failure_at
     FROM transitions t JOIN monitors m ON m.id = t.monitor_id
     WHERE t.monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND t.project_id = :projectId
       AND t.at >= :from AND t.at <= :to
     ORDER BY t.at, t.id LIMIT :limit`,
    { ...scope, limit, explained: MAX_EXPLAINED },
  )
}

/** The decision about a monitor that opened an incident, or was made next to its start. */
export type IncidentTransition = Pick<TimelineTransition, 'id' | 'monitor_id' | 'explanation' | 'interval_seconds'>

/** Times of one transaction differ by less than this. */
const SAME_MOMENT = `interval '1 second'`

/**
 * The transition to `down` next to the start of an incident, within a time range. Not one of an outage that had ended before the
 * start.
 */
export async function findOpening(db: Db, scope: Scope & { startedAt: Date }): Promise<IncidentTransition | null> {
  const [opening] = await query<IncidentTransition>(
    db,
    `SELECT t.id, t.monitor_id, t.explanation, m.interval_seconds
     FROM transitions t JOIN monitors m ON m.id = t.monitor_id
     WHERE t.monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND t.project_id = :projectId AND t.to_status = 'down'
       AND t.at >= :from AND t.at <= CAST(:to AS timestamptz) + ${SAME_MOMENT}
       AND NOT EXISTS (SELECT 1 FROM transitions ending WHERE ending.monitor_id = t.monitor_id
         AND ending.at > t.at AND ending.at < CAST(:startedAt AS timestamptz) AND ending.to_status = 'up')
     ORDER BY abs(extract(epoch FROM t.at - CAST(:startedAt AS timestamptz))), t.id LIMIT 1`,
    scope,
  )
  return opening ?? null
}

export type TimelineDelivery = {
  id: string
  event: string
  channel_id: string
  channel_name: string
  channel_type: string
  status: DeliveryStatus
  attempts: number
  last: LoggedAttempt | null
  created_at: Date
}

/** The deliveries about an incident, oldest first, without those to subscribers of status pages. */
export function listIncidentDeliveries(
  db: Db,
  projectId: string,
  incidentId: string,
  limit: number,
): Promise<TimelineDelivery[]> {
  return query(
    db,
    `SELECT d.id, d.event_name AS event, d.channel_id, c.name AS channel_name, c.type AS channel_type, d.status,
       jsonb_array_length(d.attempts) + d.attempts_left_out AS attempts, d.attempts->-1 AS last, d.created_at
     FROM deliveries d JOIN alert_channels c ON c.id = d.channel_id
     WHERE d.project_id = :projectId AND d.subscriber_id IS NULL AND d.id IN (${DELIVERIES_OF_INCIDENT})
     ORDER BY d.seq LIMIT :limit`,
    { projectId, incidentId, limit },
  )
}

export type TimelinePeriod = {
  window_id: string
  name: string | null
  monitor_id: string
  starts_at: Date
  ends_at: Date
}

/** The maintenance periods of monitors that overlap a time range, oldest first. */
export function listOverlappingPeriods(db: Db, scope: Scope, limit: number): Promise<TimelinePeriod[]> {
  return query(
    db,
    `SELECT p.window_id, w.title AS name, p.monitor_id, p.starts_at, p.ends_at
     FROM maintenance_periods p LEFT JOIN maintenance_windows w ON w.id = p.window_id
     WHERE p.monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND p.project_id = :projectId
       AND p.ends_at > :from AND p.starts_at < :to
     ORDER BY p.starts_at, p.monitor_id LIMIT :limit`,
    { ...scope, limit },
  )
}

export type TimelineSilence = {
  silence_id: string
  reason: string | null
  monitor_id: string
  created_at: Date
  ends_at: Date
}

/** The silences of monitors that overlap a time range, oldest first. */
export function listOverlappingSilences(db: Db, scope: Scope, limit: number): Promise<TimelineSilence[]> {
  return query(
    db,
    `SELECT s.id AS silence_id, s.reason, m.monitor_id, s.created_at, s.ends_at
     FROM alert_silence_monitors m JOIN alert_silences s ON s.id = m.silence_id
     WHERE m.monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND s.project_id = :projectId
       AND s.ends_at > :from AND s.created_at < :to
     ORDER BY s.created_at, s.id, m.monitor_id LIMIT :limit`,
    { ...scope, limit },
  )
}

/** `at_start`: 1 in the span around the start, 0 in the one around the end. */
export type TimelineCheck = NewestCheckRow & { monitor_id: string; at_start: 0 | 1 }

/** The checks of monitors in the spans, oldest first; at most `limit` in each span. */
export function listChecksInSpans(
  clickhouse: ClickhouseSource,
  monitors: string[],
  { start, end }: CheckSpans,
  limit: number,
): Promise<TimelineCheck[]> {
  const within = (from: string, to: string) =>
    `scheduled_at BETWEEN fromUnixTimestamp64Milli({${from}:Int64}) AND fromUnixTimestamp64Milli({${to}:Int64})`
  return select<TimelineCheck>(
    clickhouse,
    `SELECT monitor_id, region, probe_id, toUnixTimestamp64Milli(scheduled_at) AS scheduled_ms, attempt,
       toInt8(status) AS outcome, total_us, status_code, toInt8(error_source) AS source, error_code, error_message,
       failed_assertions, (${within('startFrom', 'startTo')}) AS at_start
     FROM results FINAL
     WHERE monitor_id IN {monitors:Array(UUID)} AND (${within('startFrom', 'startTo')} OR ${within('endFrom', 'endTo')})
     ORDER BY scheduled_at, region, attempt, probe_id, epoch, monitor_id LIMIT {limit:UInt32} BY at_start`,
    {
      ...{ monitors, limit, startFrom: start.fromMs, startTo: start.toMs },
      // an empty range without an end
      ...{ endFrom: end?.fromMs ?? 1, endTo: end?.toMs ?? 0 },
    },
  )
}
