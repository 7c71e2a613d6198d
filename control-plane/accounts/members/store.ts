import { type Db, execute, query, type Tx } from '../../platform/postgres.ts'
import type { Role } from './role.ts'

/** A member is known by the id of the user. */
export type MemberRow = {
  id: string
  email: string
  name: string | null
  role: Role
  is_claimed: boolean
  created_at: Date
  updated_at: Date
}

const COLUMNS = `u.id, u.email, u.name, m.role, u.password_hash IS NOT NULL AS is_claimed, m.created_at,
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

/** The roles of all members by user, locked until the transaction ends: who is the last admin stays so. */
export async function lockRoles(tx: Tx, organizationId: string): Promise<Map<string, Role>> {
  await tx.raw('SELECT 1 FROM organizations WHERE id = ? FOR NO KEY UPDATE', [organizationId])
  const rows = await query<{ userId: string; role: Role }>(
    tx,
    'SELECT user_id AS "userId", role FROM memberships WHERE organization_id = ?',
    [organizationId],
  )
  return new Map(rows.map(({ userId, role }) => [userId, role]))
}

export type Membership = { organizationId: string; userId: string; role: Role; now: Date }

/** False when the user is a member already. */
export async function insertMember(tx: Tx, member: Membership): Promise<boolean> {
  const inserted = await execute(
    tx,
    `INSERT INTO memberships (organization_id, user_id, role, created_at) VALUES (:organizationId, :userId, :role, :now)
     ON CONFLICT DO NOTHING`,
    member,
  )
  return inserted === 1
}

export const updateRole = (tx: Tx, { organizationId, userId, role }: Omit<Membership, 'now'>) =>
  execute(tx, 'UPDATE memberships SET role = ? WHERE organization_id = ? AND user_id = ?', [
    role,
    organizationId,
    userId,
  ])

export const removeMember = (tx: Tx, organizationId: string, userId: string) =>
  execute(tx, 'DELETE FROM memberships WHERE organization_id = ? AND user_id = ?', [organizationId, userId])

export const countMemberships = async (db: Db, userId: string): Promise<number> =>
  (await query(db, 'SELECT 1 FROM memberships WHERE user_id = ?', [userId])).length

export async function findUser(db: Db, email: string): Promise<{ id: string; email: string } | null> {
  const [row] = await query<{ id: string; email: string }>(db, 'SELECT id, email FROM users WHERE email = ?', [email])
  return row ?? null
}

export async function nameOfOrganization(db: Db, organizationId: string): Promise<string> {
  const [row] = await query<{ name: string }>(db, 'SELECT name FROM organizations WHERE id = ?', [organizationId])
  return row!.name
}
