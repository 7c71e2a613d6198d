import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import { MONITOR_COLUMNS } from '../store.ts'
import type { StoredMonitor } from '../types.ts'
import type { MonitorFilter, MonitorSort } from './monitor-filter.ts'

/** Each order ends with the id, so pages do not overlap. Migrations 0048 and 0074 have an index for each. */
const ORDERS: Record<MonitorSort, string> = {
  created: 'id DESC',
  name: 'lower(name), id DESC',
  status: `(CASE WHEN is_paused THEN 4 WHEN status = 'down' THEN 0 WHEN status = 'degraded' THEN 1 WHEN status IS NULL THEN 2
    ELSE 3 END), status_changed_at DESC NULLS LAST, id DESC`,
  changed: 'status_changed_at DESC NULLS LAST, id DESC',
  expires: 'least(ssl_expires_at, domain_expires_at), id DESC',
}

/** Lists one page of a project's monitors. */
export function listMonitors(
  db: Db,
  projectId: string,
  filter: MonitorFilter,
  page: { limit: number; offset: number },
  sort: MonitorSort = 'created',
): Promise<StoredMonitor[]> {
  const { where, bindings } = buildCondition(projectId, filter)
  return query(
    db,
    `SELECT ${MONITOR_COLUMNS} FROM monitors WHERE ${where} ORDER BY ${ORDERS[sort]} LIMIT :limit OFFSET :offset`,
    { ...bindings, ...page },
  )
}

/** The ids of the first `limit` monitors that match a filter, in the order of ids. */
export async function listMonitorIds(
  db: Db,
  projectId: string,
  filter: MonitorFilter,
  limit: number,
): Promise<string[]> {
  const { where, bindings } = buildCondition(projectId, filter)
  const sql = `SELECT id FROM monitors WHERE ${where} ORDER BY id LIMIT :limit`
  return (await query<{ id: string }>(db, sql, { ...bindings, limit })).map(({ id }) => id)
}

/** Counts the monitors of all pages of `listMonitors`. Reads every matching row. */
export async function countMonitors(db: Db, projectId: string, filter: MonitorFilter): Promise<number> {
  const { where, bindings } = buildCondition(projectId, filter)
  const [row] = await query<{ total: number }>(db, `SELECT count(*) AS total FROM monitors WHERE ${where}`, bindings)
  return row!.total
}

/** The fields of a monitor from which its configuration issues are derived. */
type IssueFields = Pick<
  StoredMonitor,
  | 'id'
  | 'type'
  | 'url'
  | 'keyword'
  | 'heartbeatInterval'
  | 'regions'
  | 'status'
  | 'isPaused'
  | 'deletedAt'
  | 'dataSource'
>

/** All monitors of a project that match a filter, with the fields that their issues depend on. */
export function listIssueFields(db: Db, projectId: string, filter: MonitorFilter): Promise<IssueFields[]> {
  const { where, bindings } = buildCondition(projectId, filter)
  return query(
    db,
    `SELECT id, type, url, keyword, heartbeat_interval AS "heartbeatInterval", regions, status, is_paused AS "isPaused",
       deleted_at AS "deletedAt", CASE WHEN data_source_id IS NOT NULL THEN jsonb_build_object('id', data_source_id,
         'isPaused', (SELECT s.is_paused FROM data_sources s WHERE s.id = data_source_id)) END AS "dataSource"
     FROM monitors WHERE ${where}`,
    bindings,
  )
}

/** Whether an outage is sent to a channel. Both parts are read once for all monitors, from the indexes by project. */
const ALERTED = `(
  EXISTS (SELECT 1 FROM alert_subscriptions JOIN alert_channels channel ON channel.id = alert_channel_id
    WHERE alert_subscriptions.project_id = :projectId AND alert_type = 'incident' AND NOT channel.is_paused)
  OR id IN (SELECT monitor_id FROM alert_rules JOIN alert_channels channel ON channel.id = alert_channel_id
    WHERE alert_rules.project_id = :projectId AND on_down AND NOT channel.is_paused))`

function buildCondition(projectId: string, filter: MonitorFilter) {
  const { text, among, ...rest } = filter
  const conditions = ['project_id = :projectId AND deleted_at IS NULL']
  if (filter.type !== null) conditions.push('type = :type')
  if (filter.statuses !== null) conditions.push('status = ANY (:statuses)')
  if (filter.isPaused !== null) conditions.push('is_paused = :isPaused')
  if (filter.isPending !== null) conditions.push('(status IS NULL AND NOT is_paused) = :isPending')
  if (filter.regions !== null) conditions.push('regions && CAST(:regions AS text[])')
  if (filter.tags.length > 0) conditions.push('tags @> CAST(:tags AS text[])')
  if (filter.withoutTags.length > 0) conditions.push(`NOT coalesce(tags, '{}') && CAST(:withoutTags AS text[])`)
  if (text !== null) conditions.push('(name ILIKE :pattern OR url ILIKE :pattern)')
  if (filter.isAlerted !== null) conditions.push(`${ALERTED} = :isAlerted`)
  if (among !== null) conditions.push('(id = ANY (CAST(:ids AS uuid[]))) = :isIncluded')
  const pattern = text === null ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const { ids = [], isIncluded = true } = among ?? {}
  return { where: conditions.join(' AND '), bindings: { ...rest, projectId, pattern, ids, isIncluded } }
}
