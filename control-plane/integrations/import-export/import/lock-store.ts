import { execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'

/**
 * One import of a project at a time. Its pages and windows are held before any monitor, as by whoever changes one of
 * them; what else an import locks comes in the order of everybody.
 */
export async function lockForImport(tx: Tx, projectId: string): Promise<void> {
  await execute(tx, `SELECT pg_advisory_xact_lock(${LOCK_KEYS.imports}, hashtext(?))`, [projectId])
  for (const table of ['maintenance_windows', 'status_pages']) {
    await execute(tx, `SELECT FROM ${table} WHERE project_id = ? ORDER BY id FOR NO KEY UPDATE`, [projectId])
  }
}
