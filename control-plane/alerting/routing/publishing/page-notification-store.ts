import { execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { EventRow, IncidentEventData } from '../../events/catalog.ts'
import type { MaintenanceEventRow } from '../../events/maintenance-event.ts'
import { isAutomaticUpdate, toPublicChange } from '../../events/page-event.ts'

/** Automatic changes wait this long, so that many outages at the same time become one message. */
const BATCH_DELAY_MS = 10_000

/**
 * Stores a notice of each incident event for the published pages of its project with confirmed subscribers
 * (docs/design/alerting.md#page-notices). Runs in the transaction of the events, as one statement, whatever the number of
 * subscribers. Internal events are skipped.
 */
export async function queuePageNotifications(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  const rows = events.flatMap(event => {
    if (!isIncidentEvent(event) || toPublicChange(event, []) === null) return []
    const dueAt = isAutomaticUpdate(event.data) ? new Date(now.getTime() + BATCH_DELAY_MS) : now
    return [{ id: event.id, projectId: event.projectId, dueAt }]
  })
  await insertPageNotices(tx, rows)
}

/**
 * Stores a notice of a stage of maintenance for the same pages, in the transaction of its event. It is due at once.
 * Pages that show one of `exceptMonitorIds` are left out.
 */
export const queueMaintenanceNotification = (
  tx: Tx,
  { id, projectId }: MaintenanceEventRow,
  now: Date,
  exceptMonitorIds: string[] = [],
): Promise<void> => insertPageNotices(tx, [{ id, projectId, dueAt: now }], exceptMonitorIds)

async function insertPageNotices(
  tx: Tx,
  rows: { id: string; projectId: string; dueAt: Date }[],
  exceptMonitorIds: string[] = [],
): Promise<void> {
  if (rows.length === 0) return
  await execute(
    tx,
    `WITH added AS (
       INSERT INTO page_notices (page_id, event_id, due_at)
       SELECT p.id, e.id, e.due_at
       FROM unnest(:ids::uuid[], :projectIds::uuid[], :dueAt::timestamptz[])
         WITH ORDINALITY AS e (id, project_id, due_at, number)
       JOIN status_pages p ON p.project_id = e.project_id AND p.is_published
       WHERE EXISTS (SELECT FROM page_subscribers s WHERE s.page_id = p.id AND s.confirmed_at IS NOT NULL)
         AND NOT EXISTS (
           SELECT FROM status_page_components c
           WHERE c.page_id = p.id AND c.monitor_id = ANY (:exceptMonitorIds::uuid[]))
       ORDER BY e.number
       ON CONFLICT (page_id, event_id) DO NOTHING
       RETURNING seq
     )
     SELECT pg_notify('page_notices', '') WHERE EXISTS (SELECT FROM added)`,
    {
      ids: rows.map(row => row.id),
      projectIds: rows.map(row => row.projectId),
      dueAt: rows.map(row => row.dueAt),
      exceptMonitorIds,
    },
  )
}

const isIncidentEvent = (event: EventRow): event is EventRow & { data: IncidentEventData } =>
  event.name.startsWith('incident.')
