import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../foundation/platform/postgres/lock-keys.ts'

/** Whoever makes the operator project does it alone, until the transaction ends. */
export const lockOperatorProject = (tx: Tx) => tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.operatorProject})`)

/** The project that hears of the fleet's own troubles and may see the fleet; null until the operator has made it. */
export async function findOperatorProjectId(db: Db): Promise<string | null> {
  const [row] = await query<{ id: string }>(db, 'SELECT project_id AS id FROM operator_project')
  return row?.id ?? null
}

export const insertOperatorProject = (tx: Tx, projectId: string, now: Date) =>
  execute(tx, 'INSERT INTO operator_project (project_id, created_at) VALUES (?, ?)', [projectId, now])
