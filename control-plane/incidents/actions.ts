import { newId } from '../platform/ids.ts'
import { execute, query, type Tx } from '../platform/postgres.ts'
import { type AutomaticIncident, type Outage, openingOf } from './lifecycle.ts'

/** An automatic incident as events about its monitor show it. */
export type IncidentOfMonitor = Omit<AutomaticIncident, 'project_id'>

const SHOWN = 'id, cause_monitor_id AS monitor_id, title, severity, status, started_at'

/**
 * Opens an incident for each outage whose monitor has none open (decisions 5.1); the partial unique index decides.
 * Called in the verdict's transaction, on locked monitor rows. Answers the open incident of each monitor.
 */
export async function openAutomaticIncidents(tx: Tx, outages: Outage[], now: Date): Promise<IncidentOfMonitor[]> {
  if (outages.length === 0) return []
  const rows = JSON.stringify(outages.map(outage => openingOf(newId(), outage)))
  await execute(
    tx,
    `WITH opening AS (
       SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row
         (id uuid, project_id uuid, monitor_id uuid, title text, severity text, status text, started_at timestamptz)
     ), opened AS (
       INSERT INTO incidents (id, project_id, title, severity, status, source, cause_monitor_id, started_at,
                              created_at, updated_at)
       SELECT id, project_id, title, severity, status, 'automatic', monitor_id, started_at, :now, :now FROM opening
       ON CONFLICT (cause_monitor_id) WHERE source = 'automatic' AND resolved_at IS NULL DO NOTHING
       RETURNING id, cause_monitor_id
     )
     INSERT INTO incident_monitors (incident_id, monitor_id) SELECT id, cause_monitor_id FROM opened`,
    { rows, now },
  )
  return openIncidentsOf(
    tx,
    outages.map(outage => outage.monitorId),
  )
}

/**
 * Resolves the automatic incidents of monitors, each with an update that says why: recovery (decisions 5.1), pausing
 * or deletion (decisions 4.8). Manual incidents are left alone. Answers those that it resolved.
 */
export async function resolveAutomaticIncidents(
  tx: Tx,
  resolutions: { monitorId: string; at: Date; message: string }[],
  now: Date,
): Promise<IncidentOfMonitor[]> {
  if (resolutions.length === 0) return []
  const rows = resolutions.map(({ monitorId, at, message }) => ({
    update_id: newId(),
    monitor_id: monitorId,
    at,
    message,
  }))
  return query<IncidentOfMonitor>(
    tx,
    `WITH ending AS (
       SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row
         (update_id uuid, monitor_id uuid, at timestamptz, message text)
     ), resolved AS (
       UPDATE incidents SET status = 'resolved', resolved_at = greatest(ending.at, incidents.started_at), updated_at = :now
       FROM ending
       WHERE cause_monitor_id = ending.monitor_id AND source = 'automatic' AND resolved_at IS NULL
       RETURNING incidents.*, ending.update_id, ending.message
     ), noted AS (
       INSERT INTO incident_updates (id, incident_id, status, message, is_internal, created_at)
       SELECT update_id, id, 'resolved', message, false, :now FROM resolved
     )
     SELECT ${SHOWN} FROM resolved`,
    { rows: JSON.stringify(rows), now },
  )
}

/** The open automatic incident of each of the monitors that has one. */
export async function openIncidentsOf(tx: Tx, monitorIds: string[]): Promise<IncidentOfMonitor[]> {
  if (monitorIds.length === 0) return []
  return query<IncidentOfMonitor>(
    tx,
    `SELECT ${SHOWN} FROM incidents
     WHERE cause_monitor_id = ANY(CAST(:monitorIds AS uuid[])) AND source = 'automatic' AND resolved_at IS NULL`,
    { monitorIds },
  )
}
