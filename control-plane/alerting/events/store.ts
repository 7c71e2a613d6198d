import { execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { EventRow } from './catalog.ts'
import type { DigestRow } from './digest.ts'
import type { MaintenanceEventRow } from './maintenance-event.ts'
import type { PageEventRow } from './page-event.ts'

/** Inserts events in one statement, in the transaction of their cause. */
export async function insertEvents(
  tx: Tx,
  events: (EventRow | DigestRow | PageEventRow | MaintenanceEventRow)[],
): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(event => ({
    id: event.id,
    project_id: event.projectId,
    name: event.name,
    subject: event.subject,
    data: event.data,
    occurred_at: event.occurredAt,
  }))
  await execute(
    tx,
    `INSERT INTO events (id, project_id, name, subject, data, occurred_at)
     SELECT id, project_id, name, subject, data, occurred_at
     FROM json_to_recordset(?::json)
       AS row (id uuid, project_id uuid, name text, subject text, data json, occurred_at timestamptz)`,
    [JSON.stringify(rows)],
  )
}

/** Reads events in the order in which they were created. */
export function listEventsByIds(tx: Tx, ids: string[]): Promise<EventRow[]> {
  return query(
    tx,
    `SELECT id, project_id AS "projectId", name, subject, data, occurred_at AS "occurredAt" FROM events
     WHERE id = ANY (?::uuid[]) ORDER BY id`,
    [ids],
  )
}
