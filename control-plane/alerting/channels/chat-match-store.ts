import { query, type Tx } from '../../foundation/platform/postgres/client.ts'

/**
 * Locks all chat installations of projects, in the order of their ids. Call it before a transaction changes one of them and
 * then schedules matches of others. Channels are locked before installations.
 */
export const lockChatInstallations = (tx: Tx, projectIds: string[]): Promise<unknown> =>
  query(tx, 'SELECT FROM chat_installations WHERE project_id = ANY (?::uuid[]) ORDER BY id FOR NO KEY UPDATE', [
    projectIds,
  ])

/**
 * Makes the active chat installations of projects due for a match of people, after another installation of these projects was
 * revoked or deleted: the match opens direct channels in place of those that ended.
 */
export async function scheduleMatches(tx: Tx, projectIds: string[], now: Date): Promise<void> {
  if (projectIds.length === 0) return
  await query(
    tx,
    `UPDATE chat_installations SET people_due_at = least(people_due_at, :now)
     WHERE project_id = ANY (CAST(:projectIds AS uuid[])) AND revoked_at IS NULL`,
    { projectIds, now },
  )
  await query(tx, `SELECT pg_notify('chat', '')`)
}
