import { query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { Lane } from '../queue/lanes.ts'

/** Those of the lanes in which a mail was delivered within the last hour, as `channel subject`. */
export async function listRecentlyMailedLanes(tx: Tx, lanes: Lane[], now: Date): Promise<Set<string>> {
  if (lanes.length === 0) return new Set()
  const rows = await query<Lane>(
    tx,
    `SELECT DISTINCT d.channel_id AS "channelId", d.subject
     FROM deliveries d JOIN unnest(:channels::uuid[], :subjects::text[]) AS l (channel_id, subject)
       ON d.channel_id = l.channel_id AND d.subject = l.subject
     WHERE d.status = 'delivered' AND d.updated_at > CAST(:now AS timestamptz) - interval '1 hour'`,
    { channels: lanes.map(({ channelId }) => channelId), subjects: lanes.map(({ subject }) => subject), now },
  )
  return new Set(rows.map(({ channelId, subject }) => `${channelId} ${subject}`))
}
