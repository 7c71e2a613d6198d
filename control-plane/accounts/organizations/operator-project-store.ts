import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../foundation/platform/postgres/lock-keys.ts'

/** Serializes the creation of the operator project until the transaction ends. */
export const lockOperatorProject = (tx: Tx) => tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.operatorProject})`)

/** Finds the project that may see the fleet and receives its incidents. Null until the operator has created it. */
export async function findOperatorProjectId(db: Db): Promise<string | null> {
  const [row] = await query<{ id: string }>(db, 'SELECT project_id AS id FROM operator_project')
  return row?.id ?? null
}

export const insertOperatorProject = (tx: Tx, projectId: string, now: Date) =>
  execute(tx, 'INSERT INTO operator_project (project_id, created_at) VALUES (?, ?)', [projectId, now])
