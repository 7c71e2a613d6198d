import { type Db, query } from '../platform/postgres.ts'

/** A member of the organization that a project belongs to. */
export type Member = { userId: string; email: string; role: 'admin' | 'editor' | 'viewer'; organizationId: string }

const MEMBERS = `
  SELECT u.id AS "userId", u.email, m.role, m.organization_id AS "organizationId"
  FROM projects p JOIN memberships m ON m.organization_id = p.organization_id JOIN users u ON u.id = m.user_id
  WHERE p.id = :projectId`

/** Null for somebody who is no member (any more). */
export async function findMember(db: Db, projectId: string, userId: string): Promise<Member | null> {
  const [row] = await query<Member>(db, `${MEMBERS} AND u.id = :userId`, { projectId, userId })
  return row ?? null
}

/** The member with an e-mail address, however that is written. */
export async function findMemberByEmail(db: Db, projectId: string, email: string): Promise<Member | null> {
  const [row] = await query<Member>(db, `${MEMBERS} AND u.email = lower(:email)`, { projectId, email })
  return row ?? null
}
