import { type Db, execute, query, type Tx } from '../../platform/postgres.ts'
import type { Plan } from '../plans.ts'

export type ListedOrganization = {
  id: string
  name: string
  plan: Plan
  monitors: number
  statusPages: number
  members: number
  createdAt: Date
}

const COLUMNS = `o.id, o.name, o.plan, o.created_at AS "createdAt",
  (SELECT count(*)::integer FROM monitors m JOIN projects p ON p.id = m.project_id
   WHERE p.organization_id = o.id AND m.deleted_at IS NULL) AS monitors,
  (SELECT count(*)::integer FROM status_pages s JOIN projects p ON p.id = s.project_id
   WHERE p.organization_id = o.id) AS "statusPages",
  (SELECT count(*)::integer FROM memberships WHERE organization_id = o.id) AS members`

/** Oldest first; without those that were deleted. */
export const listOrganizations = (db: Db): Promise<ListedOrganization[]> =>
  query(db, `SELECT ${COLUMNS} FROM organizations o WHERE o.deleted_at IS NULL ORDER BY o.id`)

export async function findOrganization(db: Db, id: string): Promise<ListedOrganization | null> {
  const sql = `SELECT ${COLUMNS} FROM organizations o WHERE o.id = ? AND o.deleted_at IS NULL`
  return (await query<ListedOrganization>(db, sql, [id]))[0] ?? null
}

/** Of one organization, oldest first. */
export const projectsOf = (db: Db, organizationId: string): Promise<{ id: string; name: string }[]> =>
  query(db, 'SELECT id, name FROM projects WHERE organization_id = ? ORDER BY id', [organizationId])

export const membersOf = (db: Db, organizationId: string): Promise<{ id: string; email: string; role: string }[]> =>
  query(
    db,
    `SELECT u.id, u.email, m.role FROM memberships m JOIN users u ON u.id = m.user_id
     WHERE m.organization_id = ? ORDER BY u.email`,
    [organizationId],
  )

export type ListedKey = { id: string; name: string; scope: string; hint: string; last_used_at: Date | null }

/** The API keys of all projects of an organization, oldest first. */
export const keysOf = (db: Db, organizationId: string): Promise<ListedKey[]> =>
  query(
    db,
    `SELECT k.id, k.name, k.scope, k.hint, k.last_used_at FROM api_keys k JOIN projects p ON p.id = k.project_id
     WHERE p.organization_id = ? ORDER BY k.id`,
    [organizationId],
  )

/** False when there is no such organization. */
export async function updateName(db: Db, id: string, name: string, now: Date): Promise<boolean> {
  const sql = 'UPDATE organizations SET name = ?, updated_at = ? WHERE id = ? AND deleted_at IS NULL'
  return (await execute(db, sql, [name, now, id])) === 1
}

/** Whether one of the organization's projects is the operator's own, which the installation needs. */
export async function isOperators(db: Db, organizationId: string): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM projects p WHERE organization_id = ?
       AND p.id IN (SELECT project_id FROM operator_project UNION SELECT project_id FROM canary_project)`,
    [organizationId],
  )
  return rows.length > 0
}

/**
 * Empties an organization. Its monitors are left as deleted ones, without what they held, because probes that are away
 * have to hear of it yet; screenshots, because their files go by the age of these rows; grants of chats, until the
 * provider knows that they are over.
 */
export async function emptyOrganization(tx: Tx, organizationId: string, now: Date): Promise<void> {
  const projectIds = (await projectsOf(tx, organizationId)).map(({ id }) => id)
  const monitors = await query<{ id: string }>(
    tx,
    `UPDATE monitors SET deleted_at = coalesce(deleted_at, :now), name = '', url = NULL, body = NULL, headers = NULL,
       auth_type = NULL, auth_config = NULL, assertions = NULL, keyword = NULL, tags = NULL, ping_token = NULL,
       ping_token_hash = NULL, status = NULL, updated_at = :now
     WHERE project_id = ANY (CAST(:projectIds AS uuid[])) RETURNING id`,
    { projectIds, now },
  )
  const monitorIds = monitors.map(({ id }) => id)
  await endChatGrants(tx, projectIds, now)
  await deleteWhatHangsOn(tx, 'monitors', monitorIds)
  await deleteWhatHangsOn(tx, 'projects', projectIds)
  await execute(
    tx,
    `DELETE FROM users u USING memberships m WHERE m.user_id = u.id AND m.organization_id = :organizationId
       AND NOT EXISTS (SELECT FROM memberships WHERE user_id = u.id AND organization_id <> :organizationId)`,
    { organizationId },
  )
  await execute(tx, 'DELETE FROM memberships WHERE organization_id = ?', [organizationId])
  await execute(tx, `UPDATE projects SET name = '', updated_at = ? WHERE organization_id = ?`, [now, organizationId])
  await execute(
    tx,
    `UPDATE organizations SET name = '', deleted_at = :now, updated_at = :now WHERE id = :organizationId`,
    {
      organizationId,
      now,
    },
  )
}

/** The provider is told by whoever works off that table (chat/revoke-actions.ts), and again until it has heard. */
const endChatGrants = (tx: Tx, projectIds: string[], now: Date) =>
  execute(
    tx,
    `WITH gone AS (
       DELETE FROM chat_installations WHERE project_id = ANY (CAST(:projectIds AS uuid[]))
       RETURNING id, project_id, team_id, tokens, revoked_at
     )
     INSERT INTO chat_revocations (id, project_id, team_id, tokens, next_attempt_at, created_at)
     SELECT id, project_id, team_id, tokens, :now, :now FROM gone WHERE revoked_at IS NULL`,
    { projectIds, now },
  )

const LEFT = ['monitors', 'screenshots', 'chat_revocations']

/** Deletes the rows of every table that go with a row of `table`, as its foreign keys say. */
async function deleteWhatHangsOn(tx: Tx, table: string, ids: string[]): Promise<void> {
  const hanging = await query<{ name: string; column: string }>(
    tx,
    `SELECT c.conrelid::regclass::text AS name, a.attname AS column
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     WHERE c.contype = 'f' AND c.confdeltype = 'c' AND c.confrelid = CAST(:table AS regclass)
       AND c.conrelid::regclass::text <> ALL (CAST(:left AS text[])) ORDER BY 1`,
    { table, left: LEFT },
  )
  for (const { name, column } of hanging) {
    await tx.raw('DELETE FROM ?? WHERE ?? = ANY (?::uuid[])', [name, column, ids])
  }
}

export type ListedUser = { id: string; email: string; isClaimed: boolean; roles: string }

/** By e-mail; `roles` as `<organization> <role>`, separated by commas. Null: users of every organization. */
export const listUsers = (db: Db, organizationId: string | null): Promise<ListedUser[]> =>
  query(
    db,
    `SELECT u.id, u.email, u.password_hash IS NOT NULL AS "isClaimed",
       coalesce(string_agg(m.organization_id || ' ' || m.role, ', ' ORDER BY m.organization_id), '') AS roles
     FROM users u LEFT JOIN memberships m ON m.user_id = u.id
     GROUP BY u.id HAVING :organizationId::text IS NULL OR bool_or(m.organization_id::text = :organizationId)
     ORDER BY u.email`,
    { organizationId },
  )
