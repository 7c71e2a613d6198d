import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'

/** `id`: one key, member or session; null: all that are suspended. */
export type SuspendedSelector = { organizationId: string; id: string | null }

const KEYS = `suspended_at IS NOT NULL AND project_id IN (SELECT id FROM projects WHERE organization_id = :organizationId)
  AND (CAST(:id AS uuid) IS NULL OR id = CAST(:id AS uuid))`

export const releaseKeys = (tx: Tx, which: SuspendedSelector & { now: Date }) =>
  execute(tx, `UPDATE api_keys SET suspended_at = NULL, updated_at = :now WHERE ${KEYS}`, which)

export const removeSuspendedKeys = (tx: Tx, which: SuspendedSelector) =>
  execute(tx, `DELETE FROM api_keys WHERE ${KEYS}`, which)

const MEMBERS = `organization_id = :organizationId AND suspended_at IS NOT NULL
  AND (CAST(:id AS uuid) IS NULL OR user_id = CAST(:id AS uuid))`

export const releaseMembers = (tx: Tx, which: SuspendedSelector) =>
  execute(tx, `UPDATE memberships SET suspended_at = NULL WHERE ${MEMBERS}`, which)

export async function listSuspendedMemberIds(tx: Tx, which: SuspendedSelector): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `SELECT user_id AS id FROM memberships WHERE ${MEMBERS} ORDER BY user_id`,
    which,
  )
  return rows.map(({ id }) => id)
}

/** A session that has changed to another organization is not affected there, and cannot open this one again. */
const SESSIONS = `s.organization_id = CAST(:organizationId AS uuid) AND s.organization_id = ANY (s.suspended_in)
  AND (CAST(:id AS uuid) IS NULL OR s.id = CAST(:id AS uuid)) AND u.id = s.user_id`

export type DecidedSession = { id: string; userId: string; email: string }

export const releaseSessions = (tx: Tx, which: SuspendedSelector) =>
  query<DecidedSession>(
    tx,
    `UPDATE sessions s SET suspended_in = array_remove(s.suspended_in, CAST(:organizationId AS uuid)) FROM users u
     WHERE ${SESSIONS} RETURNING s.id, u.id AS "userId", u.email`,
    which,
  )

export const removeSuspendedSessions = (tx: Tx, which: SuspendedSelector) =>
  query<DecidedSession>(
    tx,
    `DELETE FROM sessions s USING users u WHERE ${SESSIONS} RETURNING s.id, u.id AS "userId", u.email`,
    which,
  )

/** Returns the first project of an organization, in which its keys are created. */
export async function getFirstProjectId(db: Db, organizationId: string): Promise<string> {
  const sql = 'SELECT id FROM projects WHERE organization_id = ? ORDER BY id LIMIT 1'
  const [row] = await query<{ id: string }>(db, sql, [organizationId])
  return row!.id
}
