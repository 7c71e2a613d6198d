import type { PageAddress } from '../../alerting/events/page-url.ts'
import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { RecordVersion } from '../../foundation/web/conditions/record-version.ts'
import type { IncidentStatus, Severity } from './lifecycle.ts'

export const INCIDENT_VERSION: RecordVersion = {
  noun: 'incident',
  table: 'incidents',
  ignored: ['caused_by_monitor_id'],
  related: `(SELECT jsonb_agg(im.monitor_id ORDER BY im.monitor_id) FROM incident_monitors im WHERE im.incident_id = record.id)`,
}

/** An incident as the API returns it. */
export type IncidentRecord = {
  id: string
  title: string
  severity: Severity
  status: IncidentStatus
  /** the text of the newest update; null without updates */
  message: string | null
  source: 'manual' | 'automatic'
  /** the parent monitor whose outage caused this one; null if there is none */
  caused_by_monitor_id: string | null
  monitor_ids: string[]
  monitors: { id: string; name: string; status: 'up' | 'down' | 'degraded' | null }[]
  started_at: Date
  resolved_at: Date | null
  acknowledged_at: Date | null
  acknowledged_by: string | null
  postmortem: string | null
  /** null: not published */
  postmortem_published_at: Date | null
  created_at: Date
  updated_at: Date
}

type IncidentFilter = {
  statuses: string[] | null
  severities: string[] | null
  /** the others are missing or null: any */
  monitorId?: string | null
  /** of the start; `to` is excluded */
  from?: Date | null
  to?: Date | null
  /** part of the title */
  text?: string | null
}

const RECORD = `
  incidents.id, title, severity, incidents.status, source, caused_by_monitor_id, started_at, resolved_at,
  acknowledged_at, acknowledged_by, postmortem, postmortem_published_at, incidents.created_at, incidents.updated_at,
  (SELECT message FROM incident_updates WHERE incident_id = incidents.id ORDER BY id DESC LIMIT 1) AS message,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', monitors.id, 'name', name, 'status', monitors.status)
                             ORDER BY monitors.id), '[]')
   FROM incident_monitors JOIN monitors ON monitors.id = monitor_id
   WHERE incident_id = incidents.id AND deleted_at IS NULL) AS monitors`

const FILTERED = `project_id = :projectId
  AND (CAST(:statuses AS text[]) IS NULL OR incidents.status = ANY(:statuses))
  AND (CAST(:severities AS text[]) IS NULL OR severity = ANY(:severities))`

/** The conditions of which no sums exist, and whether there is one. */
function buildSearch({ monitorId = null, from = null, to = null, text = null }: IncidentFilter) {
  const pattern = text === null ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const conditions = [
    monitorId && 'id IN (SELECT incident_id FROM incident_monitors WHERE monitor_id = :monitorId)',
    from && 'started_at >= :from',
    to && 'started_at < :to',
    pattern && 'title ILIKE :pattern',
  ].filter(condition => condition !== null && condition !== '')
  const sql = conditions.map(condition => `AND incidents.${condition}`).join(' ')
  return { sql, bindings: { monitorId, from, to, pattern }, isEmpty: conditions.length === 0 }
}

/** One page of a project's incidents, newest first, and their total number. */
export async function listIncidents(
  db: Db,
  projectId: string,
  filter: IncidentFilter,
  page: { limit: number; offset: number },
): Promise<{ incidents: IncidentRecord[]; total: number }> {
  const search = buildSearch(filter)
  const { statuses, severities } = filter
  const bindings = { projectId, statuses, severities, ...search.bindings }
  const [counted, rows] = await Promise.all([
    // an old project has too many incidents to count them for each page
    query<{ total: number }>(
      db,
      search.isEmpty
        ? `SELECT CAST(coalesce(sum(amount), 0) AS bigint) AS total FROM incident_counts AS incidents WHERE ${FILTERED}`
        : `SELECT count(*) AS total FROM incidents WHERE ${FILTERED} ${search.sql}`,
      bindings,
    ),
    query<IncidentRecord>(
      db,
      `SELECT ${RECORD} FROM incidents WHERE ${FILTERED} ${search.sql} ORDER BY incidents.id DESC LIMIT :limit OFFSET :offset`,
      { ...bindings, ...page },
    ),
  ])
  return { incidents: rows.map(withMonitorIds), total: counted[0]!.total }
}

/** Null if the project does not have it. */
export async function findIncident(db: Db, projectId: string, id: string): Promise<IncidentRecord | null> {
  const rows = await query<IncidentRecord>(
    db,
    `SELECT ${RECORD} FROM incidents WHERE project_id = :projectId AND incidents.id = :id`,
    { projectId, id },
  )
  return rows[0] ? withMonitorIds(rows[0]) : null
}

/** The first published page that shows one of the incident's monitors, otherwise the first one of the project. */
const STATUS_PAGE = `(
  SELECT jsonb_build_object('slug', p.slug, 'domain',
    CASE WHEN p.custom_domain_verified_at IS NOT NULL THEN p.custom_domain END)
  FROM status_pages p WHERE p.project_id = incidents.project_id AND p.is_published
  ORDER BY EXISTS (SELECT FROM status_page_components c JOIN incident_monitors im ON im.monitor_id = c.monitor_id
                   WHERE c.page_id = p.id AND im.incident_id = incidents.id) DESC, p.id
  LIMIT 1)`

/** Incidents of any project, in the order of their ids, with the project and the status page that events contain. */
export async function listIncidentsByIds(tx: Tx, ids: string[]): Promise<IncidentWithProject[]> {
  if (ids.length === 0) return []
  const rows = await query<IncidentRecord & Omit<IncidentWithProject, 'incident'>>(
    tx,
    `SELECT project_id AS "projectId", ${STATUS_PAGE} AS "statusPage", ${RECORD} FROM incidents WHERE incidents.id = ANY(CAST(:ids AS uuid[])) ORDER BY incidents.id`,
    { ids },
  )
  return rows.map(({ projectId, statusPage, ...row }) => ({ projectId, statusPage, incident: withMonitorIds(row) }))
}

/** An incident with its project and status page, which API responses do not contain. */
type IncidentWithProject = { projectId: string; statusPage: PageAddress | null; incident: IncidentRecord }

function withMonitorIds(row: IncidentRecord): IncidentRecord {
  return { ...row, monitor_ids: row.monitors.map(monitor => monitor.id) }
}

/** Returns false if the project does not have it. */
export async function deleteIncident(db: Db, projectId: string, id: string): Promise<boolean> {
  return (await execute(db, 'DELETE FROM incidents WHERE project_id = ? AND id = ?', [projectId, id])) === 1
}
