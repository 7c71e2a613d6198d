import { toIncidentSubject } from '../../alerting/events/catalog.ts'
import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { IncidentStatus } from './lifecycle.ts'

/** An update of an incident as the API returns it. */
export type IncidentUpdateRecord = {
  id: string
  incident_id: string
  status: IncidentStatus
  message: string
  is_internal: boolean
  /** null for updates by the system */
  author_id: string | null
  created_at: Date
  updated_at: Date
}

const RECORD = 'id, incident_id, status, message, is_internal, author_id, created_at, created_at AS updated_at'

/** One page of an incident's updates, newest first, and their total number. */
export async function listIncidentUpdates(
  db: Db,
  incidentId: string,
  page: { limit: number; offset: number },
): Promise<{ updates: IncidentUpdateRecord[]; total: number }> {
  const [counted, updates] = await Promise.all([
    query<{ total: number }>(db, 'SELECT count(*) AS total FROM incident_updates WHERE incident_id = ?', [incidentId]),
    query<IncidentUpdateRecord>(
      db,
      `SELECT ${RECORD} FROM incident_updates WHERE incident_id = :incidentId
       ORDER BY id DESC LIMIT :limit OFFSET :offset`,
      { incidentId, ...page },
    ),
  ])
  return { updates, total: counted[0]!.total }
}

/** The first updates of an incident, oldest first. */
export function listFirstUpdates(db: Db, incidentId: string, limit: number): Promise<IncidentUpdateRecord[]> {
  const sql = `SELECT ${RECORD} FROM incident_updates WHERE incident_id = ? ORDER BY id LIMIT ?`
  return query(db, sql, [incidentId, limit])
}

/** `isInitial`: the update is the message with which the incident was created. */
export async function insertIncidentUpdate(tx: Tx, update: IncidentUpdateRecord, isInitial: boolean): Promise<void> {
  await execute(
    tx,
    `INSERT INTO incident_updates (id, incident_id, status, message, is_internal, author_id, created_at, is_initial)
     VALUES (:id, :incident_id, :status, :message, :is_internal, :author_id, :created_at, :isInitial)`,
    { ...update, isInitial },
  )
}

/** The update with the message of the create request, if there was one. */
export async function findInitialUpdate(tx: Tx, incidentId: string): Promise<IncidentUpdateRecord | null> {
  const sql = `SELECT ${RECORD} FROM incident_updates WHERE incident_id = ? AND is_initial`
  return (await query<IncidentUpdateRecord>(tx, sql, [incidentId]))[0] ?? null
}

/**
 * The incidents about which people have sent messages, by subject (`incident:ID`). `internal`: acknowledgements and internal
 * updates only.
 */
export async function findMessagesOfPeople(tx: Tx, subjects: string[]): Promise<Map<string, 'public' | 'internal'>> {
  if (subjects.length === 0) return new Map()
  const rows = await query<{ subject: string; isPublic: boolean }>(
    tx,
    `SELECT subject, bool_or(name = 'incident.updated' AND data->'update'->>'is_internal' = 'false') AS "isPublic"
     FROM events WHERE subject = ANY (?::text[]) AND name IN ('incident.updated', 'incident.acknowledged')
     GROUP BY subject`,
    [subjects],
  )
  return new Map(rows.map(({ subject, isPublic }) => [subject, isPublic ? 'public' : 'internal']))
}

/**
 * Whether an incident is about an outage that was withheld from subscribers of status pages, and no public update was sent. The
 * caller has locked the monitor.
 */
export async function isUnknownToSubscribers(tx: Tx, incidentId: string): Promise<boolean> {
  const untold = await query(
    tx,
    `SELECT FROM silences JOIN incidents ON cause_monitor_id = silences.monitor_id
     WHERE incidents.id = ? AND withheld->>'outage' = 'untold'`,
    [incidentId],
  )
  if (untold.length === 0) return false
  const subject = toIncidentSubject(incidentId)
  return (await findMessagesOfPeople(tx, [subject])).get(subject) !== 'public'
}
