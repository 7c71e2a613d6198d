import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { EventRow } from '../../events/catalog.ts'
import { type DigestChange, isDigestible } from '../../events/digest.ts'

/** How long what a digest told is kept here; the event and the log keep it on. */
const CLOSED_DIGEST_RETENTION_MS = 3_600_000

/** Some of the projects that have a digest to send, the longest due first. */
export async function listProjectsWithDueDigests(db: Db, now: Date): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `SELECT project_id AS id FROM digests WHERE closed_at IS NULL AND due_at <= ?
     GROUP BY project_id ORDER BY min(due_at) LIMIT 100`,
    [now],
  )
  return rows.map(row => row.id)
}

/** When the next of all open digests is due, null without any. */
export async function findNextDigestDue(db: Db): Promise<Date | null> {
  const [row] = await query<{ due: Date | null }>(db, 'SELECT min(due_at) AS due FROM digests WHERE closed_at IS NULL')
  return row?.due ?? null
}

/** `words`: what people did with incidents meanwhile, and what happened to those after it, each told by itself. */
export type DueDigest = {
  id: string
  channelId: string
  projectName: string
  changes: DigestChange[]
  words: { eventId: string; eventName: string }[]
}

type Entry = Pick<EventRow, 'name' | 'subject'> & DigestChange & { digestId: string; eventId: string }

/** Of one project, before the next one has its turn. */
const MAX_CLOSED_PER_TRANSACTION = 500

/** The first of the project's digests that are due, with what they tell, in order; their channels are kept from being deleted. */
export async function loadDueDigests(tx: Tx, projectId: string, now: Date): Promise<DueDigest[]> {
  const digests = await query<Omit<DueDigest, 'changes' | 'words'>>(
    tx,
    `SELECT d.id, d.channel_id AS "channelId", p.name AS "projectName"
     FROM digests d JOIN alert_channels c ON c.id = d.channel_id JOIN projects p ON p.id = d.project_id
     WHERE d.project_id = :projectId AND d.closed_at IS NULL AND d.due_at <= :now ORDER BY c.id LIMIT :limit FOR KEY SHARE OF c`,
    { projectId, now, limit: MAX_CLOSED_PER_TRANSACTION },
  )
  const entries = await query<Entry>(
    tx,
    `SELECT entry.digest_id AS "digestId", entry.reminder, e.id AS "eventId", e.name, e.subject,
       e.occurred_at AS "occurredAt", e.data
     FROM digest_entries entry JOIN events e ON e.id = entry.event_id
     WHERE entry.digest_id = ANY (?::uuid[]) ORDER BY entry.seq`,
    [digests.map(digest => digest.id)],
  )
  return digests.map(digest => {
    const mine = entries.filter(entry => entry.digestId === digest.id)
    const spokenOf = new Set<string>()
    const isWord = mine.map(entry => {
      if (!isDigestible(entry)) spokenOf.add(entry.subject)
      return spokenOf.has(entry.subject)
    })
    const words = mine.filter((_, i) => isWord[i]).map(({ eventId, name }) => ({ eventId, eventName: name }))
    return { ...digest, changes: mine.filter((_, i) => !isWord[i]), words }
  })
}

export async function closeDigests(tx: Tx, closed: { id: string; deliveryId: string }[], now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE digests d SET closed_at = :now, delivery_id = row.delivery_id
     FROM unnest(:ids::uuid[], :deliveryIds::text[]) AS row (id, delivery_id) WHERE d.id = row.id`,
    { ids: closed.map(one => one.id), deliveryIds: closed.map(one => one.deliveryId), now },
  )
}

/** What waits to be sent stays: it says what waits in it. */
export async function deleteOldDigests(tx: Tx, channelIds: string[], now: Date): Promise<void> {
  await execute(
    tx,
    `DELETE FROM digests WHERE channel_id = ANY (:channelIds::uuid[]) AND closed_at < :before
       AND NOT EXISTS (SELECT FROM deliveries d WHERE d.id = digests.delivery_id AND d.status = 'pending')`,
    { channelIds, before: new Date(now.getTime() - CLOSED_DIGEST_RETENTION_MS) },
  )
}
