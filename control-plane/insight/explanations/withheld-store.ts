import { type Db, query } from '../../foundation/platform/postgres/client.ts'
import type { SuppressionReason } from '../../verdict/suppression/review.ts'

/** A status change of a monitor that was not sent. */
export type SuppressedAlert = {
  event_id: string
  monitor_id: string
  event: string
  at: Date
  reason: SuppressionReason
  /** the end of the reason; null when it is not known */
  until: Date | null
  /** it may be sent when the reason has ended */
  is_waiting: boolean
}

/** `incidentId` null: only the alerts that wait. */
type WithheldScope = { projectId: string; monitorIds: string[]; incidentId: string | null; now: Date }

/** What silences or maintenance withheld at `moment.at`: the one that ends last. */
const COVER = `
  SELECT reason, until FROM (
    SELECT 1 AS rank, 'maintenance' AS reason, max(p.ends_at) AS until FROM maintenance_periods p
    WHERE p.monitor_id = m.id AND p.starts_at <= moment.at AND p.ends_at > moment.at
    UNION ALL
    SELECT 2, 'silenced', max(a.ends_at)
    FROM alert_silence_monitors am JOIN alert_silences a ON a.id = am.silence_id
    WHERE am.monitor_id = m.id AND a.created_at <= moment.at AND a.ends_at > moment.at) AS reasons
  WHERE until IS NOT NULL ORDER BY rank LIMIT 1`

/**
 * The alerts of monitors that were withheld, oldest first: those that wait (a row of `silences` names them), and of an incident
 * also those that fell into maintenance or a silence and were never sent. Nothing is stored for them, so a silence that was ended
 * early is not found, and neither is a parent that is up again.
 */
export function listWithheldAlerts(db: Db, scope: WithheldScope, limit: number): Promise<SuppressedAlert[]> {
  const { incidentId, ...bindings } = scope
  const isWanted =
    incidentId === null
      ? 's.monitor_id IS NOT NULL'
      : `e.data->'incident'->>'id' = CAST(:incidentId AS text) AND (s.monitor_id IS NOT NULL OR cover.reason IS NOT NULL)`
  return query(
    db,
    `SELECT e.id AS event_id, m.id AS monitor_id, e.name AS event, e.occurred_at AS at,
       s.monitor_id IS NOT NULL AS is_waiting,
       CASE WHEN s.reason IN ('parent', 'grace', 'doubt') THEN s.reason ELSE coalesce(cover.reason, s.reason) END AS reason,
       CASE s.reason WHEN 'parent' THEN NULL WHEN 'grace' THEN s.grace_until WHEN 'doubt' THEN s.doubt_until
         ELSE cover.until END AS until
     FROM unnest(CAST(:monitorIds AS uuid[])) AS m (id)
     JOIN events e ON e.subject = 'monitor:' || CAST(m.id AS text) AND e.project_id = :projectId
       AND e.name IN ('monitor.down', 'monitor.degraded', 'monitor.up')
     LEFT JOIN silences s ON s.monitor_id = m.id AND s.reason <> 'turn' AND CAST(e.id AS text) IN (
       SELECT jsonb_path_query(s.withheld, '$.*.eventIds[*]') #>> '{}')
     CROSS JOIN LATERAL (
       SELECT CASE WHEN s.monitor_id IS NULL THEN e.occurred_at ELSE CAST(:now AS timestamptz) END AS at) AS moment
     LEFT JOIN LATERAL (${COVER}) AS cover ON true
     WHERE ${isWanted}
       AND NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = e.id)
       AND NOT EXISTS (SELECT FROM digest_entries g WHERE g.event_id = e.id)
       AND NOT EXISTS (SELECT FROM fan_outs f WHERE f.project_id = e.project_id AND f.event_id = e.id)
     ORDER BY e.id LIMIT :limit`,
    { ...bindings, ...(incidentId !== null && { incidentId }), limit },
  )
}
