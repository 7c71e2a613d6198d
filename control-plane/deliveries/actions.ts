import { newDeliveryId } from '../platform/ids.ts'
import { type Db, execute, query, type Tx } from '../platform/postgres.ts'
import { conflict, notFound } from '../web/errors.ts'
import { attempt } from './attempt.ts'
import type { Lane } from './lanes.ts'
import { countFailures } from './pause.ts'
import { type Prepared, type PrepareTools, prepareDelivery } from './prepare.ts'
import {
  claimLanes,
  headsOf,
  lockChannels,
  lockHeldLanes,
  type Recorded,
  recordAttempts,
  releaseLanes,
  skipPausedLanes,
  storeRendered,
} from './store.ts'
import type { LoggedAttempt, NewDelivery, Outcome } from './types.ts'

/**
 * Queues deliveries beside what caused them, in the same transaction, all in one statement; they start when it
 * commits. To a paused channel they are logged as `skipped` (decisions 6.3). Answers their ids, in order.
 */
export async function enqueueDeliveries(tx: Tx, deliveries: NewDelivery[], now: Date): Promise<string[]> {
  if (deliveries.length === 0) return []
  const rows = deliveries.map(delivery => ({ id: newDeliveryId(), ...delivery }))
  // Channels are locked before lanes, here as everywhere, so that deleting a channel cannot deadlock with its alerts. The
  // lane's row is touched even when it is there: whoever empties the lane has to wait for this transaction.
  await lockChannels(tx, rows)
  await execute(
    tx,
    `WITH added AS (
       INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, created_at, updated_at)
       SELECT r.id, r."projectId", r."channelId", r."eventId", r."eventName", r.subject,
         CASE WHEN c.is_paused THEN 'skipped' ELSE 'pending' END, :now, :now
       FROM jsonb_to_recordset(:rows::jsonb)
         AS r (id text, "projectId" uuid, "channelId" uuid, "eventId" uuid, "eventName" text, subject text)
       JOIN alert_channels c ON c.id = r."channelId"
       ORDER BY r.id
       RETURNING channel_id, subject, status
     ), lanes AS (
       INSERT INTO delivery_lanes (channel_id, subject, next_attempt_at)
       SELECT DISTINCT channel_id, subject, :now::timestamptz FROM added WHERE status = 'pending'
       ORDER BY channel_id, subject
       ON CONFLICT (channel_id, subject) DO UPDATE SET next_attempt_at = delivery_lanes.next_attempt_at
     )
     SELECT pg_notify('deliveries', '')`,
    { rows: JSON.stringify(rows), now },
  )
  return rows.map(row => row.id)
}

/**
 * Sends a logged delivery again, with its id and its stored bytes (specification, "Delivery and retries" 7).
 * Throws 404 for an unknown one, 409 while it is pending or its channel is paused.
 */
export async function replayDelivery(db: Db, projectId: string, id: string, now: Date): Promise<void> {
  await db.transaction(async tx => {
    const [delivery] = await query<{ status: string; channelId: string; subject: string; isPaused: boolean }>(
      tx,
      `SELECT d.status, d.channel_id AS "channelId", d.subject, c.is_paused AS "isPaused"
       FROM deliveries d JOIN alert_channels c ON c.id = d.channel_id
       WHERE d.project_id = ? AND d.id = ? FOR UPDATE OF d`,
      [projectId, id],
    )
    if (!delivery) throw notFound('log entry')
    if (delivery.status === 'pending')
      throw conflict('this delivery is still being attempted; replay it once it has ended')
    if (delivery.isPaused) throw conflict('the channel is paused; resume it before replaying its deliveries')
    await execute(
      tx,
      `UPDATE deliveries SET status = 'pending', is_replay = true, next_attempt_at = NULL, updated_at = :now,
         attempts_before_replay = jsonb_array_length(attempts) WHERE id = :id`,
      { id, now },
    )
    await execute(
      tx,
      `INSERT INTO delivery_lanes (channel_id, subject, next_attempt_at) VALUES (:channelId, :subject, :now)
       ON CONFLICT (channel_id, subject) DO UPDATE SET next_attempt_at = delivery_lanes.next_attempt_at`,
      { channelId: delivery.channelId, subject: delivery.subject, now },
    )
    await execute(tx, `SELECT pg_notify('deliveries', '')`)
  })
}

export type Ended = { channelId: string; succeeded: boolean }

/** Counts the deliveries that ended against their channels, and pauses a channel that only fails (decisions 6.3). */
export async function countEnded(tx: Tx, ended: Ended[], now: Date): Promise<void> {
  const failing = new Set(ended.filter(one => !one.succeeded).map(one => one.channelId))
  const ids = [...new Set(ended.map(one => one.channelId))]
  if (ids.length === 0) return
  const channels = await query<{ id: string; failures: number }>(
    tx,
    `SELECT id, consecutive_failures AS failures FROM alert_channels
     WHERE id = ANY(:ids) AND (consecutive_failures > 0 OR id = ANY(:failing)) ORDER BY id FOR NO KEY UPDATE`,
    { ids, failing: [...failing] },
  )
  for (const channel of channels) {
    const outcomes = ended.filter(one => one.channelId === channel.id).map(one => one.succeeded)
    const { consecutiveFailures, pausedReason } = countFailures(channel.failures, outcomes)
    await execute(
      tx,
      `UPDATE alert_channels SET consecutive_failures = :consecutiveFailures, updated_at = :now,
         is_paused = is_paused OR :pausedReason::text IS NOT NULL,
         paused_at = CASE WHEN :pausedReason::text IS NOT NULL AND NOT is_paused THEN :now ELSE paused_at END,
         paused_reason = CASE WHEN NOT is_paused THEN :pausedReason ELSE paused_reason END
       WHERE id = :id`,
      { id: channel.id, consecutiveFailures, pausedReason, now },
    )
    if (pausedReason) await skipPending(tx, channel.id, now)
  }
}

/** What is pending when a channel is paused becomes `skipped` (decisions 6.4); what is being sent runs to its end. */
async function skipPending(tx: Tx, channelId: string, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE deliveries d SET status = 'skipped', next_attempt_at = NULL, updated_at = :now
     WHERE channel_id = :channelId AND status = 'pending' AND NOT EXISTS (
       SELECT FROM delivery_lanes l WHERE l.channel_id = d.channel_id AND l.subject = d.subject
         AND l.lease_owner IS NOT NULL AND l.next_attempt_at > :now)`,
    { channelId, now },
  )
}

/**
 * Claims up to `limit` deliveries for `owner`, renders and signs them, and stores the bytes before anybody sends them.
 * One that cannot be rendered is our own fault: it is logged as failed and its lane goes on.
 */
export async function claimDeliveries(
  tx: Tx,
  owner: string,
  limit: number,
  tools: PrepareTools,
  now: Date,
): Promise<Prepared[]> {
  const lanes = await claimLanes(tx, owner, limit, now)
  if (lanes.length === 0) return []
  const heads = await headsOf(tx, lanes)
  const prepared: Prepared[] = []
  const unfit: Recorded[] = []
  for (const head of heads) {
    try {
      prepared.push(prepareDelivery(head, tools, now))
    } catch (error) {
      unfit.push({ id: head.id, attempt: unfitAttempt(error, now), status: 'failed', retryAt: null })
    }
  }
  await storeRendered(tx, prepared, now)
  if (unfit.length > 0) await recordAttempts(tx, unfit, now)
  if (prepared.length < lanes.length) await giveBack(tx, lanes, prepared, now)
  return prepared
}

/** Lanes that turned out to hold nothing to send: emptied, of a channel that was paused, or with an unfit head. */
async function giveBack(tx: Tx, lanes: Lane[], prepared: Prepared[], now: Date): Promise<void> {
  const sending = new Set(prepared.map(one => `${one.channelId} ${one.subject}`))
  const idle = lanes.filter(lane => !sending.has(`${lane.channelId} ${lane.subject}`))
  await skipPausedLanes(tx, idle, now)
  await releaseLanes(tx, idle, now)
}

function unfitAttempt(error: unknown, now: Date): LoggedAttempt {
  const message = `internal error: the event could not be rendered (${(error as Error).message})`
  return { at: now.toISOString(), response_code: null, duration_ms: 0, error: message, response_snippet: null }
}

export type Finished = { prepared: Prepared; outcome: Outcome }

/**
 * Writes down what requests came to, counts them against their channels and gives the lanes back. An outcome whose
 * lease was lost meanwhile is somebody else's now and is dropped. Answers when retries fall due.
 */
export async function finishDeliveries(
  tx: Tx,
  owner: string,
  finished: Finished[],
  now: Date,
): Promise<{ statuses: string[]; retries: Date[] }> {
  if (finished.length === 0) return { statuses: [], retries: [] }
  const held = await lockHeldLanes(
    tx,
    owner,
    finished.map(one => one.prepared),
  )
  const mine = new Set(held.map(lane => `${lane.channelId} ${lane.subject}`))
  const kept = finished.filter(({ prepared }) => mine.has(`${prepared.channelId} ${prepared.subject}`))
  const recorded = kept.map(one => toRecorded(one, now))
  await recordAttempts(tx, recorded, now)
  const ended = kept.flatMap(({ prepared }, i) => {
    const status = recorded[i]?.status
    return status === 'pending' ? [] : [{ channelId: prepared.channelId, succeeded: status === 'delivered' }]
  })
  await countEnded(tx, ended, now)
  await releaseLanes(tx, held, now)
  return { statuses: recorded.map(one => one.status), retries: recorded.flatMap(one => one.retryAt ?? []) }
}

function toRecorded({ prepared, outcome }: Finished, now: Date): Recorded {
  const next = attempt(prepared.attemptsMade + 1, outcome, now)
  const logged: LoggedAttempt = {
    at: outcome.startedAt.toISOString(),
    response_code: outcome.responseCode,
    duration_ms: outcome.durationMs,
    error: outcome.error,
    response_snippet: outcome.responseSnippet,
  }
  if (typeof next === 'string') return { id: prepared.id, attempt: logged, status: next, retryAt: null }
  return { id: prepared.id, attempt: logged, status: 'pending', retryAt: next.retryAt }
}
