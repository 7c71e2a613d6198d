import { query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'

/** Whoever looks at the fleet and tells the operator does it alone, until the transaction ends. */
export const lockOperatorIncidents = (tx: Tx) => tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.troubles})`)

/** What the operator has open incidents about. */
export async function listOpenSubjects(tx: Tx): Promise<string[]> {
  const rows = await query<{ subject: string }>(tx, 'SELECT subject FROM operator_incidents')
  return rows.map(({ subject }) => subject)
}

/** Takes subjects that have no open incident; answers those that are this transaction's to open. */
export async function claimSubjects(
  tx: Tx,
  rows: { subject: string; incidentId: string }[],
  now: Date,
): Promise<Set<string>> {
  const taken = await query<{ subject: string }>(
    tx,
    `INSERT INTO operator_incidents (subject, incident_id, created_at)
     SELECT subject, "incidentId", :now
     FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (subject text, "incidentId" uuid)
     ON CONFLICT DO NOTHING RETURNING subject`,
    { rows: JSON.stringify(rows), now },
  )
  return new Set(taken.map(({ subject }) => subject))
}

/** Lets subjects go that are well; answers the incidents that were open about them. */
export function releaseSubjects(tx: Tx, subjects: string[]): Promise<{ subject: string; incidentId: string }[]> {
  return query(
    tx,
    `DELETE FROM operator_incidents WHERE subject = ANY (?::text[])
     RETURNING subject, incident_id AS "incidentId"`,
    [subjects],
  )
}
