import { execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'

/** Allows one import of a project at a time. */
export async function lockForImport(tx: Tx, projectId: string): Promise<void> {
  await execute(tx, `SELECT pg_advisory_xact_lock(${LOCK_KEYS.imports}, hashtext(?))`, [projectId])
}

/**
 * Locks the status pages and windows of a project. Called before any stored monitor is locked, as all code that changes them
 * does, and after new monitors were inserted, for which no other request waits.
 */
export async function lockPagesAndWindows(tx: Tx, projectId: string): Promise<void> {
  for (const table of ['maintenance_windows', 'status_pages']) {
    await execute(tx, `SELECT FROM ${table} WHERE project_id = ? ORDER BY id FOR NO KEY UPDATE`, [projectId])
  }
}
