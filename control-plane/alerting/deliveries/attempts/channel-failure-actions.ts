import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { skipPausedMessages } from '../relay/message-store.ts'
import { countFailures } from './failure-count.ts'

type EndedDelivery = { channelId: string; succeeded: boolean }

/** Counts ended deliveries against their channels, and pauses a channel after too many failures (docs/design/deliveries.md#auto-pause). */
export async function recordChannelResults(tx: Tx, ended: EndedDelivery[], now: Date): Promise<void> {
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
    if (!pausedReason) continue
    await skipPendingDeliveries(tx, channel.id, now)
    await skipPausedMessages(tx, [channel.id], now)
  }
}

/** Skips the pending deliveries of a channel that is paused. Requests in flight end normally; those of a process that died are skipped when their lane is claimed. */
async function skipPendingDeliveries(tx: Tx, channelId: string, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE deliveries d SET status = 'skipped', next_attempt_at = NULL, updated_at = :now
     WHERE channel_id = :channelId AND status = 'pending' AND relay_origin IS NULL AND NOT EXISTS (
       SELECT FROM delivery_lanes l WHERE l.channel_id = d.channel_id AND l.subject = d.subject
         AND l.lease_owner IS NOT NULL)`,
    { channelId, now },
  )
}
