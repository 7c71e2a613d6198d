import { recordAudit } from '../../../accounts/audit/actions.ts'
import { newDeliveryId, parseDeliveryTime } from '../../../foundation/platform/ids.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { ApiError, conflict, notFound } from '../../../foundation/web/server/errors.ts'
import { DEFAULT_BURST } from '../limits/pace.ts'
import type { NewDelivery } from '../types.ts'
import { lockChannels } from './lane-store.ts'
import { DUE_NOW_SQL } from './lanes.ts'

const DAY_MS = 24 * 3_600_000

/**
 * Queues deliveries in the transaction of their cause, in one statement. They are sent after it commits. Deliveries to a
 * paused channel are logged as `skipped` (docs/design/deliveries.md#auto-pause). Returns their ids, in order.
 */
export async function enqueueDeliveries(tx: Tx, deliveries: NewDelivery[], now: Date): Promise<string[]> {
  if (deliveries.length === 0) return []
  await lockChannels(tx, deliveries)
  return enqueueToLockedChannels(tx, deliveries, now)
}

/** The same, for a caller that has locked the channels. */
export async function enqueueToLockedChannels(tx: Tx, deliveries: NewDelivery[], now: Date): Promise<string[]> {
  if (deliveries.length === 0) return []
  const rows = deliveries.map(delivery => ({ id: newDeliveryId(), ...delivery }))
  // Channels are locked before lanes, as in all other transactions, so that deleting a channel cannot deadlock with its
  // alerts. An existing lane is updated too: a process that empties the lane has to wait for this transaction.
  await execute(
    tx,
    `WITH added AS (
       INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, reminder, subscriber_id, is_crowd,
         status, created_at, updated_at)
       SELECT r.id, r."projectId", r."channelId", r."eventId", r."eventName", r.subject, r.reminder, r."subscriberId",
         coalesce(r."isCrowd", false) OR count(*) OVER (PARTITION BY r."eventId") > ${DEFAULT_BURST},
         CASE WHEN c.is_paused THEN 'skipped' ELSE 'pending' END, :now, :now
       FROM jsonb_to_recordset(:rows::jsonb)
         AS r (id text, "projectId" uuid, "channelId" uuid, "eventId" uuid, "eventName" text, subject text,
               reminder integer, "subscriberId" uuid, "isCrowd" boolean)
       JOIN alert_channels c ON c.id = r."channelId"
       ORDER BY r.id
       RETURNING channel_id, subject, project_id, status
     ), lanes AS (
       INSERT INTO delivery_lanes (channel_id, subject, project_id, next_attempt_at)
       SELECT DISTINCT channel_id, subject, project_id, ${DUE_NOW_SQL} FROM added WHERE status = 'pending'
       ORDER BY channel_id, subject
       ON CONFLICT (channel_id, subject) DO UPDATE SET next_attempt_at = delivery_lanes.next_attempt_at
     )
     SELECT pg_notify('deliveries', '')`,
    { rows: JSON.stringify(rows), now },
  )
  return rows.map(row => row.id)
}

/** SQL: makes a delivery pending again, in its lane. */
export const REPLAY_ASSIGNMENTS_SQL = `status = 'pending', is_replay = true, next_attempt_at = NULL, relay_origin = NULL,
  attempts_before_replay = jsonb_array_length(attempts) + attempts_left_out, updated_at = :now`

/**
 * Sends a logged delivery again with its id and its stored body (docs/design/deliveries.md#replay). Throws `missing`
 * (404) for an unknown delivery, 409 while it is pending or its channel is paused.
 */
export async function replayDelivery(
  db: Db,
  projectId: string,
  id: string,
  now: Date,
  missing: ApiError = notFound('log entry'),
): Promise<void> {
  await db.transaction(async tx => {
    const [delivery] = await query<{ status: string; channelId: string; subject: string; isPaused: boolean }>(
      tx,
      `SELECT d.status, d.channel_id AS "channelId", d.subject, c.is_paused AS "isPaused"
       FROM deliveries d JOIN alert_channels c ON c.id = d.channel_id
       WHERE d.project_id = ? AND d.id = ? AND d.subscriber_id IS NULL FOR UPDATE OF d`,
      [projectId, id],
    )
    if (!delivery) throw missing
    if (delivery.status === 'pending') throw conflict('the delivery is still pending; replay it after it has ended')
    if (delivery.isPaused) throw conflict('the channel is paused; resume it before replaying its deliveries')
    await execute(tx, `UPDATE deliveries SET ${REPLAY_ASSIGNMENTS_SQL} WHERE id = :id`, { id, now })
    await execute(
      tx,
      `INSERT INTO delivery_lanes (channel_id, subject, project_id, next_attempt_at)
       VALUES (:channelId, :subject, :projectId, ${DUE_NOW_SQL})
       ON CONFLICT (channel_id, subject) DO UPDATE SET next_attempt_at = delivery_lanes.next_attempt_at`,
      { channelId: delivery.channelId, subject: delivery.subject, projectId, now },
    )
    await recordAudit(tx, { action: 'replayed', resource: 'delivery', resourceId: id, resourceName: null })
    await execute(tx, `SELECT pg_notify('deliveries', '')`)
  })
}

/** A 404. The message has the reason when the id shows that the delivery is older than the log. */
export function buildLogEntryNotFound(id: string, now: Date, retentionDays: number): ApiError {
  const ageMs = now.getTime() - parseDeliveryTime(id).getTime()
  if (ageMs < retentionDays * DAY_MS) return notFound('log entry')
  const message = `log entry not found; deliveries are kept for ${retentionDays} days after their end`
  return new ApiError(404, 'not_found', message)
}
