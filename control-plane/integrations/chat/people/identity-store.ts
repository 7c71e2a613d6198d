import { IS_ACTIVE_MEMBERSHIP } from '../../../accounts/members/active-condition.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { Member } from './people-store.ts'

/** A link between a user of a team's chat and a user of Picket, in the form of the API. */
type IdentityRow = {
  id: string
  team_id: string
  chat_user_id: string
  user_id: string
  disconnected_at: Date | null
  created_at: Date
  updated_at: Date
}

/**
 * Finds the member linked with a chat user; null without a link, or when they are disconnected, or when the user is not a
 * member with access.
 */
export async function findLinkedMember(
  db: Db,
  projectId: string,
  teamId: string,
  chatUserId: string,
): Promise<Member | null> {
  const [row] = await query<Member>(
    db,
    `SELECT u.id AS "userId", u.email, m.role, m.organization_id AS "organizationId"
     FROM chat_identities i JOIN projects p ON p.id = i.project_id JOIN users u ON u.id = i.user_id
     JOIN memberships m ON m.user_id = u.id AND m.organization_id = p.organization_id
     WHERE i.project_id = :projectId AND i.team_id = :teamId AND i.chat_user_id = :chatUserId
       AND i.disconnected_at IS NULL AND ${IS_ACTIVE_MEMBERSHIP}`,
    { projectId, teamId, chatUserId },
  )
  return row ?? null
}

type NewIdentityLink = { projectId: string; teamId: string; chatUserId: string; userId: string }

/** Inserts a link, unless one of the two is already linked. */
export async function insertLink(db: Db, link: NewIdentityLink, now: Date): Promise<void> {
  await execute(
    db,
    `INSERT INTO chat_identities (id, project_id, team_id, chat_user_id, user_id, created_at, updated_at)
     VALUES (:id, :projectId, :teamId, :chatUserId, :userId, :now, :now) ON CONFLICT DO NOTHING`,
    { id: newId(), ...link, now },
  )
}

/** Returns whether one of the two users was disconnected. `userId` null: whether the chat user was. */
export async function isDisconnected(
  db: Db,
  link: Omit<NewIdentityLink, 'userId'> & { userId: string | null },
): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT FROM chat_identities WHERE project_id = :projectId AND team_id = :teamId AND disconnected_at IS NOT NULL
       AND (chat_user_id = :chatUserId OR user_id = :userId)`,
    link,
  )
  return rows.length > 0
}

/** Deletes the links of both users, except those that are disconnected. Returns the users of Picket that were linked. */
export async function deleteLinks(tx: Tx, link: NewIdentityLink): Promise<string[]> {
  const rows = await query<{ user_id: string }>(
    tx,
    `DELETE FROM chat_identities WHERE project_id = :projectId AND team_id = :teamId
       AND disconnected_at IS NULL AND (chat_user_id = :chatUserId OR user_id = :userId) RETURNING user_id`,
    link,
  )
  return rows.map(({ user_id }) => user_id)
}

const COLUMNS = 'id, team_id, chat_user_id, user_id, disconnected_at, created_at, updated_at'

/** Connects or disconnects a chat user and a member. Returns the link, or null when the project has no such link. */
export async function updateConnected(
  tx: Tx,
  { projectId, id, isConnected }: { projectId: string; id: string; isConnected: boolean },
  now: Date,
): Promise<IdentityRow | null> {
  const [row] = await query<IdentityRow>(
    tx,
    `UPDATE chat_identities SET updated_at = :now,
       disconnected_at = CASE WHEN :isConnected THEN NULL ELSE coalesce(disconnected_at, :now) END
     WHERE project_id = :projectId AND id = :id RETURNING ${COLUMNS}`,
    { projectId, id, isConnected, now },
  )
  return row ?? null
}

/** Returns a page of a project's links, newest first, and their total number. */
export async function listIdentities(db: Db, projectId: string, page: { limit: number; offset: number }) {
  const rows = await query<IdentityRow>(
    db,
    `SELECT ${COLUMNS} FROM chat_identities
     WHERE project_id = :projectId ORDER BY id DESC LIMIT :limit OFFSET :offset`,
    { projectId, ...page },
  )
  const sql = 'SELECT count(*) AS total FROM chat_identities WHERE project_id = ?'
  const [count] = await query<{ total: number }>(db, sql, [projectId])
  return { rows, total: count?.total ?? 0 }
}
