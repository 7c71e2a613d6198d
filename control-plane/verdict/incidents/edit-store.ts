import { execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { IncidentStatus, Severity } from './lifecycle.ts'

/** The fields of an incident that people change. */
export type EditableIncident = {
  id: string
  title: string
  severity: Severity
  status: IncidentStatus
  startedAt: Date
  resolvedAt: Date | null
  acknowledgedAt: Date | null
  postmortem: string | null
  /** null: not published */
  postmortemPublishedAt: Date | null
}

/**
 * An incident, locked until the transaction ends; null if the project does not have it. The monitor that caused it is
 * locked first (monitors before incidents), so that no verdict about it is stored in the meantime.
 */
export async function lockIncident(tx: Tx, projectId: string, id: string): Promise<EditableIncident | null> {
  await execute(
    tx,
    `SELECT id FROM monitors
     WHERE id = (SELECT cause_monitor_id FROM incidents WHERE project_id = ? AND id = ?) FOR KEY SHARE`,
    [projectId, id],
  )
  const [row] = await query<EditableIncident>(
    tx,
    `SELECT id, title, severity, status, started_at AS "startedAt", resolved_at AS "resolvedAt",
       acknowledged_at AS "acknowledgedAt", postmortem, postmortem_published_at AS "postmortemPublishedAt"
     FROM incidents WHERE project_id = ? AND id = ? FOR NO KEY UPDATE`,
    [projectId, id],
  )
  return row ?? null
}

/** Inserts an incident about monitors, which the caller has locked, or about none. */
export async function insertIncident(
  tx: Tx,
  incident: Omit<EditableIncident, 'acknowledgedAt' | 'postmortem' | 'postmortemPublishedAt'> & {
    projectId: string
    source: 'manual' | 'automatic'
    createdAt: Date
    monitorIds: string[]
  },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO incidents (id, project_id, title, severity, status, source, started_at, resolved_at, created_at, updated_at)
     VALUES (:id, :projectId, :title, :severity, :status, :source, :startedAt, :resolvedAt, :createdAt, :createdAt)`,
    incident,
  )
  await execute(
    tx,
    `INSERT INTO incident_monitors (incident_id, monitor_id)
     SELECT :id, monitor_id FROM unnest(CAST(:monitorIds AS uuid[])) AS row (monitor_id)`,
    incident,
  )
}

/** Writes an incident that the caller has locked. */
export async function updateIncident(tx: Tx, incident: EditableIncident, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET title = :title, severity = :severity, status = :status, resolved_at = :resolvedAt,
       postmortem = :postmortem, postmortem_published_at = :postmortemPublishedAt, updated_at = :now WHERE id = :id`,
    { ...incident, now },
  )
}

/** Replaces the monitors of an incident by these, which the caller has locked. Deleted monitors stay. Returns whether it had others. */
export async function replaceIncidentMonitors(tx: Tx, id: string, monitorIds: string[]): Promise<boolean> {
  const bindings = { id, monitorIds }
  const removed = await execute(
    tx,
    `DELETE FROM incident_monitors USING monitors
     WHERE incident_id = :id AND monitors.id = monitor_id AND deleted_at IS NULL
       AND NOT monitor_id = ANY (CAST(:monitorIds AS uuid[]))`,
    bindings,
  )
  const added = await execute(
    tx,
    `INSERT INTO incident_monitors (incident_id, monitor_id)
     SELECT :id, monitor_id FROM unnest(CAST(:monitorIds AS uuid[])) AS row (monitor_id) ON CONFLICT DO NOTHING`,
    bindings,
  )
  return removed + added > 0
}

/**
 * Detaches a reopened automatic incident from its monitor, so that the system does not resolve it. It stays attached if
 * the outage of the monitor continues and the monitor has no later incident, which would be about a later outage: then the
 * recovery resolves it.
 */
export async function detachFromMonitor(tx: Tx, id: string): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET cause_monitor_id = NULL
     WHERE id = :id AND source = 'automatic' AND (
       NOT EXISTS (SELECT FROM verdict_states
                   WHERE monitor_id = cause_monitor_id AND state->>'outageSinceMs' IS NOT NULL)
       OR EXISTS (SELECT FROM incidents later
                  WHERE later.project_id = incidents.project_id AND later.source = 'automatic'
                    AND coalesce(later.outage_monitor_id, later.cause_monitor_id) = incidents.cause_monitor_id
                    AND later.id > incidents.id))`,
    { id },
  )
}

/** The caller has locked the incident, which is not acknowledged yet. */
export async function markAcknowledged(tx: Tx, id: string, userId: string | null, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET acknowledged_at = :now, acknowledged_by = :userId, updated_at = :now WHERE id = :id`,
    { id, userId, now },
  )
}
