import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { Scope } from '../../foundation/web/auth/authentication.ts'
import { IS_ACTIVE_MEMBERSHIP } from '../members/active-condition.ts'
import { IS_FOUNDER } from '../members/founder-condition.ts'
import type { MemberRole } from '../members/role.ts'

/** Returns and locks the organizations that were founded with a user's address, including those that demoted the user since. */
export async function lockFoundedOrganizations(tx: Tx, userId: string): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `SELECT o.id FROM organizations o JOIN memberships m ON m.organization_id = o.id
     WHERE m.user_id = ? AND ${IS_FOUNDER} AND ${IS_ACTIVE_MEMBERSHIP} AND o.deleted_at IS NULL
     ORDER BY o.id FOR NO KEY UPDATE OF o`,
    [userId],
  )
  return rows.map(({ id }) => id)
}

const OF_PROJECTS = 'project_id IN (SELECT id FROM projects WHERE organization_id = :organizationId)'

/** Earlier versions allowed other admins to demote a founder whose address was not proven. */
export const restoreFounder = (tx: Tx, owner: { organizationId: string; userId: string }) =>
  execute(
    tx,
    `UPDATE memberships SET role = 'admin'
     WHERE organization_id = :organizationId AND user_id = :userId AND role <> 'admin'`,
    owner,
  )

/**
 * Suspends all keys, and the sessions and memberships of other users, and deletes all wall links, which show monitors without
 * a session. Lock the organization first.
 */
export async function suspendAll(tx: Tx, owner: { organizationId: string; userId: string; now: Date }): Promise<void> {
  await execute(
    tx,
    // same lock order as a deletion
    `UPDATE api_keys SET suspended_at = :now, updated_at = :now WHERE id IN (
       SELECT id FROM api_keys WHERE suspended_at IS NULL AND ${OF_PROJECTS} ORDER BY id FOR UPDATE)`,
    owner,
  )
  await execute(
    tx,
    `UPDATE sessions SET suspended_in = array_append(suspended_in, CAST(:organizationId AS uuid))
     WHERE organization_id = :organizationId AND user_id <> :userId AND organization_id <> ALL (suspended_in)`,
    owner,
  )
  await execute(
    tx,
    `UPDATE memberships SET suspended_at = :now
     WHERE organization_id = :organizationId AND user_id <> :userId AND suspended_at IS NULL`,
    owner,
  )
  await execute(tx, `DELETE FROM wall_links WHERE ${OF_PROJECTS}`, owner)
}

/** A session that has not ended and is suspended in its current organization `o`. */
const SUSPENDED_SESSION = `s.organization_id = o.id AND o.id = ANY (s.suspended_in) AND s.expires_at > :now
  AND s.last_seen_at > :seenAfter`
const ADMIN_KEY = `SELECT FROM api_keys k JOIN projects p ON p.id = k.project_id
  WHERE p.organization_id = o.id AND k.scope = 'admin' AND k.suspended_at IS NULL`

/** An organization in which an admin has to decide. `lacksKey`: it has no admin key that works. */
export type AccessReview = { organizationId: string; name: string; isUndecided: boolean; lacksKey: boolean }

type SessionTimes = { now: Date; seenAfter: Date }

/** The reviews of organizations that a session opens as admin, by the time of joining. */
export const listReviews = (db: Db, sessionId: string, times: SessionTimes) =>
  query<AccessReview>(
    db,
    `SELECT "organizationId", name, "isUndecided", "lacksKey" FROM (
       SELECT o.id AS "organizationId", o.name, m.created_at AS joined,
         EXISTS (SELECT FROM memberships x WHERE x.organization_id = o.id AND x.suspended_at IS NOT NULL)
           OR EXISTS (SELECT FROM api_keys k JOIN projects p ON p.id = k.project_id
                      WHERE p.organization_id = o.id AND k.suspended_at IS NOT NULL)
           OR EXISTS (SELECT FROM sessions s WHERE ${SUSPENDED_SESSION}) AS "isUndecided",
         NOT EXISTS (${ADMIN_KEY}) AS "lacksKey"
       FROM sessions own JOIN memberships m ON m.user_id = own.user_id AND m.role = 'admin' AND ${IS_ACTIVE_MEMBERSHIP}
         JOIN organizations o ON o.id = m.organization_id AND o.deleted_at IS NULL AND o.id <> ALL (own.suspended_in)
       WHERE own.id = :sessionId
     ) review WHERE "isUndecided" OR "lacksKey" ORDER BY "isUndecided" DESC, joined, "organizationId"`,
    { sessionId, ...times },
  )

/** Whether keys of a project or members of its organization are suspended. */
export async function isUnderReview(db: Db, projectId: string): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT FROM projects p WHERE p.id = :projectId AND (
       EXISTS (SELECT FROM memberships m WHERE m.organization_id = p.organization_id AND m.suspended_at IS NOT NULL)
       OR EXISTS (SELECT FROM api_keys k WHERE k.project_id = p.id AND k.suspended_at IS NOT NULL))`,
    { projectId },
  )
  return rows.length > 0
}

export type SuspendedKey = {
  id: string
  name: string
  hint: string
  scope: Scope
  createdAt: Date
  lastUsedAt: Date | null
}
export type SuspendedMember = { id: string; email: string; name: string | null; role: MemberRole; createdAt: Date }
export type SuspendedSession = {
  id: string
  userId: string
  email: string
  createdAt: Date
  lastSeenAt: Date
  browser: string | null
  ip: string | null
}

/** The oldest rows, up to a limit, and the total number. */
type RowsWithTotal<Row> = { rows: Row[]; total: number }

async function queryWithTotal<Row>(db: Db, sql: string, bindings: { limit: number }): Promise<RowsWithTotal<Row>> {
  const rows = await query<Row & { total: number }>(
    db,
    `SELECT *, count(*) OVER ()::integer AS total FROM (${sql}) one ORDER BY "createdAt", id LIMIT :limit`,
    bindings,
  )
  return { rows, total: rows[0]?.total ?? 0 }
}

type SuspendedQuery = { organizationId: string; limit: number }

export const listSuspendedKeys = (db: Db, filter: SuspendedQuery) =>
  queryWithTotal<SuspendedKey>(
    db,
    `SELECT id, name, hint, scope, created_at AS "createdAt", last_used_at AS "lastUsedAt" FROM api_keys
     WHERE suspended_at IS NOT NULL AND ${OF_PROJECTS}`,
    filter,
  )

export const listSuspendedMembers = (db: Db, filter: SuspendedQuery) =>
  queryWithTotal<SuspendedMember>(
    db,
    `SELECT u.id, u.email, u.name, m.role, m.created_at AS "createdAt" FROM memberships m JOIN users u ON u.id = m.user_id
     WHERE m.organization_id = :organizationId AND m.suspended_at IS NOT NULL`,
    filter,
  )

export const listSuspendedSessions = (db: Db, filter: SuspendedQuery & SessionTimes) =>
  queryWithTotal<SuspendedSession>(
    db,
    `SELECT s.id, u.id AS "userId", u.email, s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt", began.browser,
       host(began.ip) AS ip
     FROM organizations o JOIN sessions s ON ${SUSPENDED_SESSION} JOIN users u ON u.id = s.user_id LEFT JOIN LATERAL (
       SELECT a.ip, a.changes #>> '{browser,to}' AS browser FROM audit_log a
       WHERE a.resource_id = u.id::text AND a.resource = 'user' AND a.organization_id = o.id
         AND a.changes #>> '{session,to}' = s.id::text LIMIT 1
     ) began ON true
     WHERE o.id = :organizationId`,
    filter,
  )
