import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { IS_ACTIVE_MEMBERSHIP } from '../members/active-condition.ts'
import type { MemberRole } from '../members/role.ts'

type NewSession = {
  id: string
  tokenHash: Buffer
  userId: string
  organizationId: string | null
  expiresAt: Date
  now: Date
}

export const insertSession = (tx: Tx, session: NewSession) =>
  execute(
    tx,
    `INSERT INTO sessions (id, token_hash, user_id, organization_id, last_seen_at, expires_at, created_at)
     VALUES (:id, :tokenHash, :userId, :organizationId, :now, :expiresAt, :now)`,
    session,
  )

/** The session `s` opens the organization of the membership `m`. */
const HAS_ACCESS = `${IS_ACTIVE_MEMBERSHIP} AND NOT m.organization_id = ANY (s.suspended_in)`

/** A session and its user. The fields of the organization are null when the user is in none, or has lost access to it. */
export type UserSession = {
  id: string
  userId: string
  email: string
  name: string | null
  lastSeenAt: Date
  organizationId: string | null
  organizationName: string | null
  role: MemberRole | null
  projectId: string | null
  isOperator: boolean
}

/** Finds a session by its token or id, unless it has ended or was last used before `seenAfter`. */
export async function findSession(
  db: Db,
  which: { tokenHash: Buffer } | { id: string },
  { now, seenAfter }: { now: Date; seenAfter: Date },
): Promise<UserSession | null> {
  const [row] = await query<UserSession>(
    db,
    `SELECT s.id, s.user_id AS "userId", u.email, u.name, s.last_seen_at AS "lastSeenAt",
            o.id AS "organizationId", o.name AS "organizationName", m.role, p.id AS "projectId",
            EXISTS (SELECT FROM operator_project op WHERE op.project_id = p.id) AS "isOperator"
     FROM sessions s JOIN users u ON u.id = s.user_id
       LEFT JOIN memberships m ON m.user_id = s.user_id AND m.organization_id = s.organization_id AND ${HAS_ACCESS}
       LEFT JOIN organizations o ON o.id = m.organization_id
       LEFT JOIN LATERAL (SELECT id FROM projects WHERE organization_id = o.id ORDER BY id LIMIT 1) p ON true
     WHERE ${'id' in which ? 's.id = :id' : 's.token_hash = :tokenHash'} AND s.expires_at > :now AND s.last_seen_at > :seenAfter`,
    { ...which, now, seenAfter },
  )
  return row ?? null
}

/** The present role of a session's user in an organization. Null when the session has ended or does not open it. */
export async function findSessionRole(db: Db | Tx, id: string, organizationId: string): Promise<MemberRole | null> {
  const [row] = await query<{ role: MemberRole }>(
    db,
    `SELECT m.role FROM sessions s JOIN memberships m ON m.user_id = s.user_id
     WHERE s.id = ? AND m.organization_id = ? AND ${HAS_ACCESS}`,
    [id, organizationId],
  )
  return row?.role ?? null
}

export const markSeen = (db: Db, id: string, now: Date) =>
  execute(db, 'UPDATE sessions SET last_seen_at = ? WHERE id = ?', [now, id])

/** `browser` and `ip` from the time when it began, read from the audit log; null: unknown. */
export type ListedSession = {
  id: string
  createdAt: Date
  lastSeenAt: Date
  browser: string | null
  ip: string | null
}

/** A user's sessions, the last used first. */
export const listSessions = (db: Db, userId: string, { now, seenAfter }: { now: Date; seenAfter: Date }) =>
  query<ListedSession>(
    db,
    `SELECT s.id, s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt", began.browser, host(began.ip) AS ip
     FROM sessions s LEFT JOIN LATERAL (
       SELECT a.ip, a.changes #>> '{browser,to}' AS browser FROM audit_log a
       WHERE a.resource_id = :userId AND a.resource = 'user' AND a.changes #>> '{session,to}' = s.id::text LIMIT 1
     ) began ON true
     WHERE s.user_id = CAST(:userId AS uuid) AND s.expires_at > :now AND s.last_seen_at > :seenAfter
     ORDER BY s.last_seen_at DESC, s.id DESC`,
    { userId, now, seenAfter },
  )

/** Deletes one session of a user, or all but one. Returns the ids of the deleted ones. */
export async function removeSessions(
  tx: Tx,
  userId: string,
  which: { id: string } | { but: string },
): Promise<string[]> {
  const [condition, id] = 'id' in which ? ['id = ?', which.id] : ['id <> ?', which.but]
  const sql = `DELETE FROM sessions WHERE user_id = ? AND ${condition} RETURNING id`
  return (await query<{ id: string }>(tx, sql, [userId, id])).map(row => row.id)
}

export const removeSession = (db: Db, tokenHash: Buffer) =>
  execute(db, 'DELETE FROM sessions WHERE token_hash = ?', [tokenHash])

export const removeAllSessions = (tx: Tx, userId: string) =>
  execute(tx, 'DELETE FROM sessions WHERE user_id = ?', [userId])

/** Deletes a user's oldest sessions beyond `kept`. */
export const removeOldest = (tx: Tx, userId: string, kept: number) =>
  execute(
    tx,
    `DELETE FROM sessions WHERE user_id = :userId AND id NOT IN
       (SELECT id FROM sessions WHERE user_id = :userId ORDER BY created_at DESC, id DESC LIMIT :kept)`,
    { userId, kept },
  )

/** Moves a removed member's sessions to another organization that the user has entered, or to none. */
export const leaveOrganization = (tx: Tx, organizationId: string, userId: string) =>
  execute(
    tx,
    `UPDATE sessions SET suspended_in = array_remove(suspended_in, CAST(:organizationId AS uuid)), organization_id =
       (SELECT m.organization_id FROM memberships m WHERE m.user_id = :userId AND m.entered_at IS NOT NULL AND ${IS_ACTIVE_MEMBERSHIP}
        ORDER BY m.created_at, m.organization_id LIMIT 1)
     WHERE user_id = :userId AND organization_id = :organizationId`,
    { organizationId, userId },
  )

/** Opens an organization in a session. Returns false when the user has no access to it. */
export async function enterOrganization(
  db: Db,
  sessionId: string,
  organizationId: string,
  now: Date,
): Promise<boolean> {
  const touched = await execute(
    db,
    `WITH entered AS (
       UPDATE memberships m SET entered_at = coalesce(m.entered_at, :now) FROM sessions s
       WHERE s.id = :sessionId AND m.user_id = s.user_id AND m.organization_id = :organizationId AND ${HAS_ACCESS}
       RETURNING m.organization_id
     )
     UPDATE sessions s SET organization_id = e.organization_id FROM entered e WHERE s.id = :sessionId`,
    { sessionId, organizationId, now },
  )
  return touched === 1
}

/** `isEntered`: the user has opened it, or used a link that it sent. */
export type UserOrganization = { id: string; name: string; role: MemberRole; isEntered: boolean }

/** The organizations that a user has access to, by the time of joining. */
export const listUserOrganizations = (db: Db, userId: string) =>
  query<UserOrganization>(
    db,
    `SELECT o.id, o.name, m.role, m.entered_at IS NOT NULL AS "isEntered" FROM memberships m JOIN organizations o ON o.id = m.organization_id
     WHERE m.user_id = ? AND ${IS_ACTIVE_MEMBERSHIP} ORDER BY m.created_at, o.id`,
    [userId],
  )

export const pruneSessions = (db: Db, { now, seenBefore }: { now: Date; seenBefore: Date }) =>
  execute(db, 'DELETE FROM sessions WHERE expires_at < ? OR last_seen_at < ?', [now, seenBefore])
