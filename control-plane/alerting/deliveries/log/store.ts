import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import { DELIVERIES_OF_INCIDENT, DELIVERIES_OF_MONITOR } from './about.ts'
import type { DeliveryRow } from './log-entry.ts'
import { DELIVERY_SUBJECT } from './subject.ts'

const LOG_COLUMNS = `id, channel_id AS "channelId", event_name AS "eventName", ${DELIVERY_SUBJECT} AS event, status, attempts, attempts_left_out AS "attemptsLeftOut", request_url AS "plainAddress",
  request_address AS "encryptedAddress", project_id AS "projectId",
  request_headers AS "requestHeaders", request_body AS "requestBody", created_at AS "createdAt", updated_at AS "updatedAt"`

type LogFilter = {
  channelId: string | null
  monitorId: string | null
  incidentId: string | null
  events: string[] | null
  statuses: string[] | null
}

/** One page of the project's alert log, newest first, and the total. Deliveries to subscribers of status pages are left out. */
export async function listDeliveries(
  db: Db,
  projectId: string,
  filter: LogFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: DeliveryRow[]; total: number }> {
  const where = `project_id = :projectId AND subscriber_id IS NULL AND (:channelId::uuid IS NULL OR channel_id = :channelId)
    AND (:events::text[] IS NULL OR event_name = ANY(:events)) AND (:statuses::text[] IS NULL OR status = ANY(:statuses))
    ${filter.monitorId === null ? '' : `AND id IN (${DELIVERIES_OF_MONITOR})`}
    ${filter.incidentId === null ? '' : `AND id IN (${DELIVERIES_OF_INCIDENT})`}`
  const bindings = { projectId, ...filter, ...page }
  const [counted] = await query<{ total: number }>(
    db,
    `SELECT count(*) AS total FROM deliveries WHERE ${where}`,
    bindings,
  )
  const rows = await query<DeliveryRow>(
    db,
    `SELECT ${LOG_COLUMNS} FROM deliveries WHERE ${where} ORDER BY seq DESC LIMIT :limit OFFSET :offset`,
    bindings,
  )
  return { rows, total: counted?.total ?? 0 }
}

export async function findDelivery(db: Db, projectId: string, id: string): Promise<DeliveryRow | null> {
  const sql = `SELECT ${LOG_COLUMNS} FROM deliveries WHERE project_id = ? AND id = ? AND subscriber_id IS NULL`
  const [row] = await query<DeliveryRow>(db, sql, [projectId, id])
  return row ?? null
}

/** True when the project has this channel. `id` must be a valid id. */
export async function hasChannel(db: Db, projectId: string, id: string): Promise<boolean> {
  const sql = 'SELECT id FROM alert_channels WHERE project_id = ? AND id = ? AND page_id IS NULL AND person_id IS NULL'
  return (await query(db, sql, [projectId, id])).length === 1
}

/** True when the project has this monitor. `id` must be a valid id. */
export async function hasMonitor(db: Db, projectId: string, id: string): Promise<boolean> {
  const sql = 'SELECT id FROM monitors WHERE project_id = ? AND id = ? AND deleted_at IS NULL'
  return (await query(db, sql, [projectId, id])).length === 1
}

/** True when the project has this incident. `id` must be a valid id. */
export async function hasIncident(db: Db, projectId: string, id: string): Promise<boolean> {
  return (await query(db, 'SELECT id FROM incidents WHERE project_id = ? AND id = ?', [projectId, id])).length === 1
}
