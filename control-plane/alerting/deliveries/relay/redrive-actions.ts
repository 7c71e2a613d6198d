import { recordAudit } from '../../../accounts/audit/actions.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import { conflict, notFound } from '../../../foundation/web/server/errors.ts'
import { REPLAY_ASSIGNMENTS_SQL } from '../queue/enqueue-actions.ts'
import { DUE_NOW_SQL } from '../queue/lanes.ts'

/** How many deliveries one call sends again, oldest first. */
const MAX_REDRIVEN_DELIVERIES = 10_000

/**
 * Sends dead deliveries of one channel again, or of all channels that are not paused (`channelId` null), with the same ids
 * and bodies, for another 24 hours in the relay. Returns how many. Throws 404 for an unknown channel, 409 for a paused one.
 */
export async function redrive(db: Db, projectId: string, channelId: string | null, now: Date): Promise<number> {
  return await db.transaction(async tx => {
    const channels = await query<{ id: string; isPaused: boolean }>(
      tx,
      `SELECT id, is_paused AS "isPaused" FROM alert_channels
       WHERE project_id = :projectId AND page_id IS NULL AND person_id IS NULL AND (:channelId::uuid IS NULL OR id = :channelId) ORDER BY id FOR KEY SHARE`,
      { projectId, channelId: channelId !== null && isId(channelId) ? channelId : null },
    )
    if (channelId !== null) {
      const channel = isId(channelId) ? channels[0] : undefined
      if (!channel) throw notFound('channel')
      if (channel.isPaused) throw conflict('the channel is paused; resume it before sending its dead deliveries again')
    }
    const [redriven] = await query<{ count: number }>(
      tx,
      `WITH dead AS (
         SELECT id FROM deliveries
         WHERE project_id = :projectId AND status = 'dead' AND channel_id = ANY (:channels)
         ORDER BY seq LIMIT :limit FOR UPDATE SKIP LOCKED
       ), revived AS (
         UPDATE deliveries SET ${REPLAY_ASSIGNMENTS_SQL} FROM dead WHERE deliveries.id = dead.id
         RETURNING deliveries.channel_id, deliveries.subject, deliveries.project_id
       ), lanes AS (
         INSERT INTO delivery_lanes (channel_id, subject, project_id, next_attempt_at)
         SELECT DISTINCT channel_id, subject, project_id, ${DUE_NOW_SQL} FROM revived ORDER BY channel_id, subject
         ON CONFLICT (channel_id, subject) DO UPDATE SET next_attempt_at = delivery_lanes.next_attempt_at
       )
       SELECT (SELECT count(*) FROM revived) AS count, pg_notify('deliveries', '')`,
      {
        projectId,
        channels: channels.filter(channel => !channel.isPaused).map(({ id }) => id),
        limit: MAX_REDRIVEN_DELIVERIES,
        now,
      },
    )
    const count = redriven?.count ?? 0
    const resource = { resource: 'delivery', resourceId: null, resourceName: `${count} dead deliveries` }
    await recordAudit(tx, { action: 'replayed', ...resource })
    return count
  })
}
