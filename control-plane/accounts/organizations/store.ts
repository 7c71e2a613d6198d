import { type Db, execute, query } from '../../foundation/platform/postgres/client.ts'
import type { PlanName } from '../plans/plans.ts'

export type ListedOrganization = {
  id: string
  name: string
  plan: PlanName
  monitors: number
  statusPages: number
  members: number
  createdAt: Date
}

export const ORGANIZATION_COLUMNS = `o.id, o.name, o.plan, o.created_at AS "createdAt",
  (SELECT count(*)::integer FROM monitors m JOIN projects p ON p.id = m.project_id
   WHERE p.organization_id = o.id AND m.deleted_at IS NULL) AS monitors,
  (SELECT count(*)::integer FROM status_pages s JOIN projects p ON p.id = s.project_id
   WHERE p.organization_id = o.id) AS "statusPages",
  (SELECT count(*)::integer FROM memberships WHERE organization_id = o.id) AS members`

/** Oldest first, without deleted ones. */
export const listOrganizations = (db: Db): Promise<ListedOrganization[]> =>
  query(db, `SELECT ${ORGANIZATION_COLUMNS} FROM organizations o WHERE o.deleted_at IS NULL ORDER BY o.id`)

export async function findOrganization(db: Db, id: string): Promise<ListedOrganization | null> {
  const sql = `SELECT ${ORGANIZATION_COLUMNS} FROM organizations o WHERE o.id = ? AND o.deleted_at IS NULL`
  return (await query<ListedOrganization>(db, sql, [id]))[0] ?? null
}

/** Of one organization, oldest first. */
export const listProjects = (db: Db, organizationId: string): Promise<{ id: string; name: string }[]> =>
  query(db, 'SELECT id, name FROM projects WHERE organization_id = ? ORDER BY id', [organizationId])

type ListedMember = { id: string; email: string; role: string; suspended_at: Date | null }

export const listOrganizationMembers = (db: Db, organizationId: string): Promise<ListedMember[]> =>
  query(
    db,
    `SELECT u.id, u.email, m.role, m.suspended_at FROM memberships m JOIN users u ON u.id = m.user_id
     WHERE m.organization_id = ? ORDER BY u.email`,
    [organizationId],
  )

type ListedKey = {
  id: string
  name: string
  scope: string
  hint: string
  last_used_at: Date | null
  suspended_at: Date | null
}

/** The API keys of all projects of an organization, oldest first. */
export const listOrganizationKeys = (db: Db, organizationId: string): Promise<ListedKey[]> =>
  query(
    db,
    `SELECT k.id, k.name, k.scope, k.hint, k.last_used_at, k.suspended_at FROM api_keys k JOIN projects p ON p.id = k.project_id
     WHERE p.organization_id = ? ORDER BY k.id`,
    [organizationId],
  )

/** Returns false for an unknown organization. */
export async function updateName(db: Db, id: string, name: string, now: Date): Promise<boolean> {
  const sql = 'UPDATE organizations SET name = ?, updated_at = ? WHERE id = ? AND deleted_at IS NULL'
  return (await execute(db, sql, [name, now, id])) === 1
}

/** Whether one of the organization's projects is the operator project or the canary project. */
export async function isOperatorOrganization(db: Db, organizationId: string): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM projects p WHERE organization_id = ?
       AND p.id IN (SELECT project_id FROM operator_project UNION SELECT project_id FROM canary_project)`,
    [organizationId],
  )
  return rows.length > 0
}

type ListedUser = { id: string; email: string; isClaimed: boolean; roles: string }

/** By email address; `roles` as `<organization> <role>`, separated by commas. Null: users of every organization. */
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
