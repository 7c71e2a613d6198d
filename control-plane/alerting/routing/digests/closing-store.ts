import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { EventRow } from '../../events/catalog.ts'
import { type DigestChange, isDigestible } from '../../events/digest.ts'

/** Projects that have a digest to send, the longest due first, at most 100. Leaves out `except`. */
export async function listProjectsWithDueDigests(db: Db, now: Date, except: string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `SELECT project_id AS id FROM digests
     WHERE closed_at IS NULL AND due_at <= :now AND project_id <> ALL (:except::uuid[])
     GROUP BY project_id ORDER BY min(due_at) LIMIT 100`,
    { now, except },
  )
  return rows.map(row => row.id)
}

/** When the next open digest is due; null when there is none. */
export async function findNextDigestDue(db: Db): Promise<Date | null> {
  const [row] = await query<{ due: Date | null }>(db, 'SELECT min(due_at) AS due FROM digests WHERE closed_at IS NULL')
  return row?.due ?? null
}

/** `updates`: actions of people on incidents in the digest, and later events of these incidents. Each is sent singly. */
export type DueDigest = {
  id: string
  channelId: string
  projectName: string
  changes: DigestChange[]
  updates: { eventId: string; eventName: string }[]
}

type Entry = Pick<EventRow, 'name' | 'subject'> & DigestChange & { digestId: string; eventId: string }

/** How many digests of one project are closed before the next project has its turn. */
const MAX_CLOSED_PER_TRANSACTION = 500

/** The first due digests of the project with their entries in order. Their channels cannot be deleted until the transaction ends. */
export async function loadDueDigests(tx: Tx, projectId: string, now: Date): Promise<DueDigest[]> {
  const digests = await query<Omit<DueDigest, 'changes' | 'updates'>>(
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
    const updatedSubjects = new Set<string>()
    const isUpdate = mine.map(entry => {
      if (!isDigestible(entry)) updatedSubjects.add(entry.subject)
      return updatedSubjects.has(entry.subject)
    })
    const updates = mine.filter((_, i) => isUpdate[i]).map(({ eventId, name }) => ({ eventId, eventName: name }))
    return { ...digest, changes: mine.filter((_, i) => !isUpdate[i]), updates }
  })
}

/** A closed digest is kept as long as its delivery, so that the log finds it by the events in it. */
export async function closeDigests(tx: Tx, closed: { id: string; deliveryId: string }[], now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE digests d SET closed_at = :now, delivery_id = row.delivery_id
     FROM unnest(:ids::uuid[], :deliveryIds::text[]) AS row (id, delivery_id) WHERE d.id = row.id`,
    { ids: closed.map(one => one.id), deliveryIds: closed.map(one => one.deliveryId), now },
  )
}
