import type { EventRow } from '../../alerting/events/catalog.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { buildIncidentEvent } from './incident-event.ts'
import { type AutomaticIncident, buildAutomaticIncident, type MonitorOutage } from './lifecycle.ts'
import { listIncidentsByIds } from './store.ts'

/** An automatic incident as the events of its monitor contain it. */
type MonitorIncident = Omit<AutomaticIncident, 'project_id'>

/** The incidents of some monitors, and the events to publish for those that changed. */
export type AffectedIncidents = { incidents: MonitorIncident[]; events: EventRow[] }

const SHOWN = 'id, cause_monitor_id AS monitor_id, title, severity, status, started_at'

/**
 * Opens an incident for each outage whose monitor has no open one; the partial unique index decides. Called in the
 * transaction of the verdict, on locked monitors. Returns the open incident of each monitor, and `incident.created` for
 * the new ones.
 */
export async function openAutomaticIncidents(
  tx: Tx,
  outages: MonitorOutage[],
  publicUrl: string,
  now: Date,
): Promise<AffectedIncidents> {
  if (outages.length === 0) return { incidents: [], events: [] }
  const opened = await query<{ id: string }>(
    tx,
    `WITH opening AS (
       SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row
         (id uuid, project_id uuid, monitor_id uuid, title text, severity text, status text, started_at timestamptz)
     ), opened AS (
       INSERT INTO incidents (id, project_id, title, severity, status, source, cause_monitor_id, outage_monitor_id,
                              outage_title, started_at, created_at, updated_at)
       SELECT id, project_id, title, severity, status, 'automatic', monitor_id, monitor_id, title, started_at, :now, :now
       FROM opening
       ON CONFLICT (cause_monitor_id) WHERE source = 'automatic' AND resolved_at IS NULL DO NOTHING
       RETURNING id, cause_monitor_id
     )
     INSERT INTO incident_monitors (incident_id, monitor_id) SELECT id, cause_monitor_id FROM opened
     RETURNING incident_id AS id`,
    { rows: JSON.stringify(outages.map(outage => buildAutomaticIncident(newId(), outage))), now },
  )
  const created = await listIncidentsByIds(
    tx,
    opened.map(({ id }) => id),
  )
  const incidents = await listOpenAutomaticIncidents(
    tx,
    outages.map(outage => outage.monitorId),
  )
  const events = created.map(owned =>
    buildIncidentEvent(newId(), { name: 'incident.created', ...owned, update: null }, publicUrl, now),
  )
  return { incidents, events }
}

/** The end of an outage, and its reason for the last update of the incident. */
export type Resolution = { monitorId: string; at: Date; message: string }

/**
 * Resolves the automatic incidents of monitors, each with an update that gives the reason. Manual incidents, and
 * automatic ones that are resolved or detached from their monitor, are not changed. Returns the resolved incidents, and
 * `incident.resolved` for each.
 */
export async function resolveAutomaticIncidents(
  tx: Tx,
  resolutions: Resolution[],
  publicUrl: string,
  now: Date,
): Promise<AffectedIncidents> {
  if (resolutions.length === 0) return { incidents: [], events: [] }
  const rows = resolutions.map(resolution => ({ ...resolution, updateId: newId() }))
  const incidents = await query<MonitorIncident>(
    tx,
    `WITH ending AS (
       SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row
         ("updateId" uuid, "monitorId" uuid, at timestamptz, message text)
     ), resolved AS (
       UPDATE incidents SET status = 'resolved', resolved_at = greatest(ending.at, incidents.started_at), updated_at = :now
       FROM ending
       WHERE cause_monitor_id = ending."monitorId" AND source = 'automatic' AND resolved_at IS NULL
       RETURNING incidents.*, ending."updateId", ending.message
     ), noted AS (
       INSERT INTO incident_updates (id, incident_id, status, message, is_internal, created_at)
       SELECT "updateId", id, 'resolved', message, false, :now FROM resolved
     )
     SELECT ${SHOWN} FROM resolved`,
    { rows: JSON.stringify(rows), now },
  )
  const resolved = await listIncidentsByIds(
    tx,
    incidents.map(({ id }) => id),
  )
  const rowsByMonitor = new Map(rows.map(row => [row.monitorId, row]))
  const rowsByIncident = new Map(incidents.map(({ id, monitor_id }) => [id, rowsByMonitor.get(monitor_id)!]))
  const events = resolved.map(owned => {
    const { updateId, message } = rowsByIncident.get(owned.incident.id)!
    const update = { ...BY_THE_SYSTEM, id: updateId, message, created_at: now }
    return buildIncidentEvent(newId(), { name: 'incident.resolved', ...owned, update }, publicUrl, now)
  })
  return { incidents, events }
}

const BY_THE_SYSTEM = { status: 'resolved', is_internal: false, author_id: null, is_automatic: true }

/** The open automatic incidents of monitors. */
export async function listOpenAutomaticIncidents(tx: Tx, monitorIds: string[]): Promise<MonitorIncident[]> {
  if (monitorIds.length === 0) return []
  return query<MonitorIncident>(
    tx,
    `SELECT ${SHOWN} FROM incidents
     WHERE cause_monitor_id = ANY(CAST(:monitorIds AS uuid[])) AND source = 'automatic' AND resolved_at IS NULL`,
    { monitorIds },
  )
}
