import type { IncidentEventData } from '../../alerting/events/catalog.ts'
import {
  getPeriodId,
  type MaintenanceEventData,
  type MaintenanceEventName,
} from '../../alerting/events/maintenance-event.ts'
import { PAGE_NOTICE, toPageSubject } from '../../alerting/events/page-event.ts'
import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../foundation/platform/postgres/lock-keys.ts'
import type { IncidentCause } from '../core/incident-names.ts'
import { OUTAGE_SQL } from '../core/outage-sql.ts'
import { PAGE_COLUMNS } from '../core/page-store.ts'
import type { StoredPage } from '../core/records.ts'

/** A change that must still be sent to the subscribers of a page, in the order of events. */
export type PageNotice = IncidentNotice | MaintenanceNotice

export type IncidentNotice = QueuedNotice & { name: string; data: IncidentEventData }
export type MaintenanceNotice = QueuedNotice & { name: MaintenanceEventName; data: MaintenanceEventData }

type QueuedNotice = {
  seq: number
  dueAt: Date
  /** the page's own event, once sending has begun; null before */
  pageEventId: string | null
  /** the last subscriber for which a delivery was created */
  lastSubscriberId: string | null
  occurredAt: Date
}

/** Pages whose oldest notice is due at `now`. */
export async function listPagesWithDueNotices(db: Db, now: Date): Promise<string[]> {
  const rows = await query<{ id: string }>(db, `SELECT page_id AS id FROM (${OLDEST}) n WHERE due_at <= ?`, [now])
  return rows.map(row => row.id)
}

/** When the next notice is due; null when there is none. */
export async function findNextNoticeDue(db: Db): Promise<Date | null> {
  const [row] = await query<{ due: Date | null }>(db, `SELECT min(due_at) AS due FROM (${OLDEST}) n`)
  return row?.due ?? null
}

const OLDEST = 'SELECT DISTINCT ON (page_id) page_id, due_at FROM page_notices ORDER BY page_id, seq'

/** Locks the notices of a page until the transaction ends, so that messages keep their order. */
export async function lockNotices(tx: Tx, pageId: string): Promise<void> {
  await query(tx, `SELECT pg_advisory_xact_lock(${LOCK_KEYS.pageNotices}, hashtext(?))`, [pageId])
}

export function listNotices(tx: Tx, pageId: string, limit: number): Promise<PageNotice[]> {
  return query(
    tx,
    `SELECT n.seq, n.due_at AS "dueAt", n.told_event_id AS "pageEventId", n.told_to AS "lastSubscriberId", e.name, e.data,
       e.occurred_at AS "occurredAt"
     FROM page_notices n JOIN events e ON e.id = n.event_id WHERE n.page_id = :pageId ORDER BY n.seq LIMIT :limit`,
    { pageId, limit },
  )
}

/** The periods of these windows of which a notice was sent to the subscribers of a page. */
export async function listSentPeriods(tx: Tx, pageId: string, windowIds: string[]): Promise<Set<string>> {
  if (windowIds.length === 0) return new Set()
  const rows = await query<Pick<MaintenanceEventData, 'maintenance'>>(
    tx,
    `SELECT change->'maintenance' AS maintenance FROM events e, json_array_elements(e.data->'changes') AS change
     WHERE e.subject = :subject AND e.name = :name AND change->'maintenance'->>'id' = ANY (:windowIds)`,
    { subject: toPageSubject(pageId), name: PAGE_NOTICE, windowIds },
  )
  return new Set(rows.map(({ maintenance }) => getPeriodId(maintenance)))
}

/**
 * A published page, which can be neither unpublished nor deleted until the transaction ends. Throws the error of a lock timeout at
 * once when another transaction has locked it.
 */
export async function findPublishedPage(tx: Tx, id: string): Promise<StoredPage | null> {
  const sql = `SELECT ${PAGE_COLUMNS} FROM status_pages p WHERE p.id = ? AND p.is_published FOR SHARE OF p NOWAIT`
  return (await query<StoredPage>(tx, sql, [id]))[0] ?? null
}

/**
 * The components that an incident affects on a page. `isWhole`: a manual incident without monitors concerns the whole
 * page.
 */
export type AffectedComponents = {
  incidentId: string
  isWhole: boolean
  components: { id: string; name: string }[]
  cause: IncidentCause | null
}

/** Deleted incidents are left out. */
export function listAffectedComponents(tx: Tx, pageId: string, incidentIds: string[]): Promise<AffectedComponents[]> {
  return query(
    tx,
    `SELECT i.id AS "incidentId",
       i.source = 'manual' AND NOT EXISTS (SELECT FROM incident_monitors im WHERE im.incident_id = i.id) AS "isWhole",
       coalesce((
         SELECT jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name) ORDER BY c.display_order, c.id)
         FROM status_page_components c JOIN incident_monitors im ON im.monitor_id = c.monitor_id
         WHERE c.page_id = :pageId AND im.incident_id = i.id
       ), '[]') AS components,
       (SELECT jsonb_build_object('outageTitle', outage->>'title', 'componentName', c.name)
        FROM (SELECT ${OUTAGE_SQL} AS outage) AS cause, status_page_components c JOIN incident_monitors im ON im.monitor_id = c.monitor_id
        WHERE i.source = 'automatic' AND c.page_id = :pageId AND im.incident_id = i.id
        ORDER BY c.monitor_id::text = outage->>'monitorId' DESC, c.display_order, c.id LIMIT 1) AS cause
     FROM incidents i WHERE i.id = ANY (CAST(:incidentIds AS uuid[]))`,
    { pageId, incidentIds },
  )
}

/** The components of a page that show one of the monitors, in display order. */
export function listComponentsOfMonitors(
  tx: Tx,
  pageId: string,
  monitorIds: string[],
): Promise<{ id: string; name: string }[]> {
  return query(
    tx,
    `SELECT id, name FROM status_page_components
     WHERE page_id = :pageId AND monitor_id = ANY (CAST(:monitorIds AS uuid[])) ORDER BY display_order, id`,
    { pageId, monitorIds },
  )
}

/** Confirmed subscribers of one of the components or of the whole page, in the order of their ids, after `after`. */
export function listRecipients(
  tx: Tx,
  {
    pageId,
    componentIds,
    isWhole,
    after,
  }: { pageId: string; componentIds: string[]; isWhole: boolean; after: string | null },
  limit: number,
): Promise<{ id: string; channelId: string }[]> {
  return query(
    tx,
    `SELECT id, channel_id AS "channelId" FROM page_subscribers
     WHERE page_id = :pageId AND confirmed_at IS NOT NULL AND paused_at IS NULL
       AND (CAST(:after AS uuid) IS NULL OR id > CAST(:after AS uuid))
       AND (component_ids IS NULL OR :isWhole OR component_ids && CAST(:componentIds AS uuid[]))
     ORDER BY id LIMIT :limit`,
    { pageId, componentIds, isWhole, after, limit },
  )
}

/** Stores the page event of a notice and the last subscriber for which a delivery was created. */
export async function saveNoticeProgress(tx: Tx, { seq, pageEventId, lastSubscriberId }: PageNotice): Promise<void> {
  await execute(
    tx,
    'UPDATE page_notices SET told_event_id = :pageEventId, told_to = :lastSubscriberId WHERE seq = :seq',
    {
      seq,
      pageEventId,
      lastSubscriberId,
    },
  )
}

/** Deletes the notices of a page that was unpublished, and skips its pending deliveries. */
export async function cancelPageNotices(tx: Tx, pageId: string, now: Date): Promise<void> {
  await execute(tx, 'DELETE FROM page_notices WHERE page_id = ?', [pageId])
  await lockPageChannels(tx, pageId)
  await execute(
    tx,
    `UPDATE deliveries d SET status = 'skipped', next_attempt_at = NULL, updated_at = :now
     FROM page_subscribers s WHERE s.page_id = :pageId AND d.subscriber_id = s.id AND d.status = 'pending'`,
    { pageId, now },
  )
}

/** Locks the channels of a page until the transaction ends: channels are locked before deliveries, as everywhere. */
async function lockPageChannels(tx: Tx, pageId: string): Promise<void> {
  await query(tx, 'SELECT FROM alert_channels WHERE page_id = ? ORDER BY id FOR UPDATE', [pageId])
}

export async function deleteNotices(tx: Tx, seqs: number[]): Promise<void> {
  if (seqs.length > 0) await execute(tx, 'DELETE FROM page_notices WHERE seq = ANY (?::bigint[])', [seqs])
}

/** The data of a page event that was stored when sending began. */
export async function loadEventData<Data>(tx: Tx, eventId: string): Promise<Data> {
  return (await query<{ data: Data }>(tx, 'SELECT data FROM events WHERE id = ?', [eventId]))[0]!.data
}
