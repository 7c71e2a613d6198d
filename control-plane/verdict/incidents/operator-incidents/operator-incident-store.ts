import { type Db, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { hasRowsJoined } from '../../../foundation/platform/postgres/joined-reads.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'

/** One transaction at a time checks the fleet and updates operator incidents. */
export const lockOperatorIncidents = (tx: Tx) => tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.operatorIncidents})`)

/** Whether an operator incident is open. */
export const hasOpenSubjects = (db: Db): Promise<boolean> => hasRowsJoined(db, 'SELECT FROM operator_incidents')

/** The subjects of open operator incidents. */
export async function listOpenSubjects(tx: Tx): Promise<string[]> {
  const rows = await query<{ subject: string }>(tx, 'SELECT subject FROM operator_incidents')
  return rows.map(({ subject }) => subject)
}

/** Claims subjects without an open incident. Returns those for which the caller has to open one. */
export async function claimSubjects(
  tx: Tx,
  rows: { subject: string; incidentId: string }[],
  now: Date,
): Promise<Set<string>> {
  const claimed = await query<{ subject: string }>(
    tx,
    `INSERT INTO operator_incidents (subject, incident_id, created_at)
     SELECT subject, "incidentId", :now
     FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (subject text, "incidentId" uuid)
     ON CONFLICT DO NOTHING RETURNING subject`,
    { rows: JSON.stringify(rows), now },
  )
  return new Set(claimed.map(({ subject }) => subject))
}

/** Releases recovered subjects. Returns their open incidents. */
export function releaseSubjects(tx: Tx, subjects: string[]): Promise<{ subject: string; incidentId: string }[]> {
  return query(
    tx,
    `DELETE FROM operator_incidents WHERE subject = ANY (?::text[])
     RETURNING subject, incident_id AS "incidentId"`,
    [subjects],
  )
}
