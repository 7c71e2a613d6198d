import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { IS_ACTIVE_MEMBERSHIP } from './active-condition.ts'
import { IS_FOUNDER } from './founder-condition.ts'
import type { MemberRole } from './role.ts'

/** `id` is the id of the user. */
export type MemberRow = {
  id: string
  email: string
  name: string | null
  role: MemberRole
  is_claimed: boolean
  awaits_proof: boolean
  suspended_at: Date | null
  created_at: Date
  updated_at: Date
}

const COLUMNS = `u.id, u.email, u.name, m.role, u.password_hash IS NOT NULL AS is_claimed, m.awaits_proof, m.suspended_at, m.created_at,
  greatest(m.created_at, u.updated_at) AS updated_at`
const FROM = 'FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization_id = :organizationId'

/** Newest first. */
export async function listMembers(
  db: Db,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
) {
  const rows = await query<MemberRow>(
    db,
    `SELECT ${COLUMNS} ${FROM} ORDER BY m.created_at DESC, u.id DESC LIMIT :limit OFFSET :offset`,
    { organizationId, limit, offset },
  )
  const [count] = await query<{ total: number }>(db, `SELECT count(*)::integer AS total ${FROM}`, { organizationId })
  return { rows, total: count!.total }
}

export async function findMember(db: Db, organizationId: string, userId: string): Promise<MemberRow | null> {
  const [row] = await query<MemberRow>(db, `SELECT ${COLUMNS} ${FROM} AND u.id = :userId`, { organizationId, userId })
  return row ?? null
}

/** Whether this member is a founder whose address is not proven. Lock the organization first. */
export async function isUnprovenFounder(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  const sql = `SELECT FROM memberships m JOIN organizations o ON o.id = m.organization_id JOIN users u ON u.id = m.user_id
    WHERE o.id = ? AND u.id = ? AND u.email_proven_at IS NULL AND ${IS_FOUNDER}`
  return (await query(tx, sql, [organizationId, userId])).length > 0
}

/** Locks the organization's row until the transaction ends, so that its admins cannot change. */
export const lockOrganization = (tx: Tx, organizationId: string) =>
  tx.raw('SELECT 1 FROM organizations WHERE id = ? FOR NO KEY UPDATE', [organizationId])

/** The present role of a user in an organization. Null when the user is not a member who has access. */
export async function findActiveRole(db: Db, organizationId: string, userId: string): Promise<MemberRole | null> {
  const sql = `SELECT m.role FROM memberships m WHERE m.organization_id = ? AND m.user_id = ? AND ${IS_ACTIVE_MEMBERSHIP}`
  const [row] = await query<{ role: MemberRole }>(db, sql, [organizationId, userId])
  return row?.role ?? null
}

/** Whether the organization has another active admin. */
export async function hasOtherAdmin(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  const sql = `SELECT 1 FROM memberships m
    WHERE m.organization_id = ? AND m.user_id <> ? AND m.role = 'admin' AND ${IS_ACTIVE_MEMBERSHIP} LIMIT 1`
  return (await query(tx, sql, [organizationId, userId])).length > 0
}

type Membership = { organizationId: string; userId: string; role: MemberRole }

/** Returns false when the user is already a member. */
export async function insertMember(tx: Tx, member: Membership & { awaitsProof: boolean; now: Date }): Promise<boolean> {
  const inserted = await execute(
    tx,
    `INSERT INTO memberships (organization_id, user_id, role, awaits_proof, created_at)
     VALUES (:organizationId, :userId, :role, :awaitsProof, :now) ON CONFLICT DO NOTHING`,
    member,
  )
  return inserted === 1
}

/** Marks an organization as entered by a member who opens it for the first time. */
export const markEntered = (tx: Tx, { organizationId, userId }: Omit<Membership, 'role'>, now: Date) =>
  execute(
    tx,
    'UPDATE memberships SET entered_at = ? WHERE organization_id = ? AND user_id = ? AND entered_at IS NULL',
    [now, organizationId, userId],
  )

export const updateRole = (tx: Tx, { organizationId, userId, role }: Membership) =>
  execute(tx, 'UPDATE memberships SET role = ? WHERE organization_id = ? AND user_id = ?', [
    role,
    organizationId,
    userId,
  ])

export const removeMember = (tx: Tx, organizationId: string, userId: string) =>
  execute(tx, 'DELETE FROM memberships WHERE organization_id = ? AND user_id = ?', [organizationId, userId])

/** Locks a user. Lock users before their memberships, as setting a password does. */
export const lockUser = (tx: Tx, userId: string) => tx.raw('SELECT 1 FROM users WHERE id = ? FOR UPDATE', [userId])

/** Deletes an unclaimed account without a membership. The next invitation creates a new one. */
export const removeUnusedUser = (tx: Tx, userId: string) =>
  execute(
    tx,
    `DELETE FROM users WHERE id = :userId AND password_hash IS NULL
       AND NOT EXISTS (SELECT FROM memberships WHERE user_id = :userId)`,
    { userId },
  )

export type KnownUser = { id: string; email: string; isProven: boolean }

/** Finds a user by the address in lower case, and locks the user against deletion. */
export async function lockUserByEmail(tx: Tx, email: string): Promise<KnownUser | null> {
  const [row] = await query<KnownUser>(
    tx,
    'SELECT id, email, email_proven_at IS NOT NULL AS "isProven" FROM users WHERE email = ? FOR KEY SHARE',
    [email],
  )
  return row ?? null
}

export async function getOrganizationName(db: Db, organizationId: string): Promise<string> {
  const [row] = await query<{ name: string }>(db, 'SELECT name FROM organizations WHERE id = ?', [organizationId])
  return row!.name
}
