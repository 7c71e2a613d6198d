import { execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'

/**
 * Allows one import of a project at a time. Locks its status pages and windows before any monitor, as all code that
 * changes them does.
 */
export async function lockForImport(tx: Tx, projectId: string): Promise<void> {
  await execute(tx, `SELECT pg_advisory_xact_lock(${LOCK_KEYS.imports}, hashtext(?))`, [projectId])
  for (const table of ['maintenance_windows', 'status_pages']) {
    await execute(tx, `SELECT FROM ${table} WHERE project_id = ? ORDER BY id FOR NO KEY UPDATE`, [projectId])
  }
}
