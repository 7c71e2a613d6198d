import { IS_ACTIVE_MEMBERSHIP } from '../../../accounts/members/active-condition.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'

/** A member of a project's organization who has access. */
export type Member = { userId: string; email: string; role: 'admin' | 'editor' | 'viewer'; organizationId: string }

const MEMBERS = `
  SELECT u.id AS "userId", u.email, m.role, m.organization_id AS "organizationId"
  FROM projects p JOIN memberships m ON m.organization_id = p.organization_id JOIN users u ON u.id = m.user_id
  WHERE p.id = :projectId AND ${IS_ACTIVE_MEMBERSHIP}`

/** Finds a member; null when the user is not a member. */
export async function findMember(db: Db, projectId: string, userId: string): Promise<Member | null> {
  const [row] = await query<Member>(db, `${MEMBERS} AND u.id = :userId`, { projectId, userId })
  return row ?? null
}

/** Who began an installation, for the confirmation page. */
export type Installer = { email: string; projectName: string; organizationName: string }

/** Finds who began an installation; null when the user is not a member. */
export async function findInstaller(db: Db, projectId: string, userId: string): Promise<Installer | null> {
  const [row] = await query<Installer>(
    db,
    `SELECT u.email, p.name AS "projectName", o.name AS "organizationName"
     FROM projects p JOIN organizations o ON o.id = p.organization_id
     JOIN memberships m ON m.organization_id = o.id JOIN users u ON u.id = m.user_id
     WHERE p.id = :projectId AND u.id = :userId AND ${IS_ACTIVE_MEMBERSHIP}`,
    { projectId, userId },
  )
  return row ?? null
}

/** Finds a member by email address, case-insensitively. */
export async function findMemberByEmail(db: Db, projectId: string, email: string): Promise<Member | null> {
  const [row] = await query<Member>(db, `${MEMBERS} AND u.email = lower(:email)`, { projectId, email })
  return row ?? null
}

/** Returns up to 10 monitors that are not up, the worst first. */
export function listFailingMonitors(
  db: Db,
  projectId: string,
): Promise<{ name: string; status: 'down' | 'degraded' }[]> {
  return query(
    db,
    `SELECT name, status FROM monitors
     WHERE project_id = ? AND deleted_at IS NULL AND status IN ('down', 'degraded')
     ORDER BY status = 'down' DESC, status_changed_at LIMIT 10`,
    [projectId],
  )
}

/** Calls in one match. The provider allows about fifty calls a minute. */
const MAX_CALLS_PER_ROUND = 100

/** Returns members without a link: the person on call first, then a random selection. */
export const listUnlinkedMembers = (db: Db, projectId: string, teamId: string): Promise<Member[]> =>
  query(
    db,
    `${MEMBERS} AND NOT EXISTS (
       SELECT FROM chat_identities i WHERE i.project_id = p.id AND i.team_id = :teamId AND i.user_id = u.id)
     ORDER BY EXISTS (SELECT FROM alert_settings s WHERE s.project_id = p.id AND s.on_call_user_id = u.id) DESC,
       random() LIMIT ${MAX_CALLS_PER_ROUND}`,
    { projectId, teamId },
  )

/** Returns connected members without a direct channel in an active installation. */
export const listMembersWithoutDirectChannel = (db: Db, projectId: string, teamId: string) =>
  query<{ userId: string; chatUserId: string }>(
    db,
    `SELECT i.user_id AS "userId", i.chat_user_id AS "chatUserId"
     FROM chat_identities i JOIN projects p ON p.id = i.project_id
     JOIN memberships m ON m.organization_id = p.organization_id AND m.user_id = i.user_id
     WHERE i.project_id = :projectId AND i.team_id = :teamId AND i.disconnected_at IS NULL AND ${IS_ACTIVE_MEMBERSHIP}
       AND NOT EXISTS (
       SELECT FROM alert_channels c JOIN chat_installations ci ON ci.id = c.chat_installation_id
       WHERE c.project_id = i.project_id AND c.person_id = i.user_id AND ci.revoked_at IS NULL)
     ORDER BY i.id LIMIT ${MAX_CALLS_PER_ROUND}`,
    { projectId, teamId },
  )

type DirectChannel = {
  id: string
  projectId: string
  config: Buffer
  installationId: string
  userId: string
  chatUserId: string
}

/**
 * Inserts the direct channel of a member in place of one in a revoked installation. Changes nothing else when the member has a
 * channel in an active installation, or when the member and the chat user are not connected any more. `config` is encrypted.
 */
export async function saveDirectChannel(db: Db, channel: DirectChannel, now: Date): Promise<void> {
  await db.transaction(async tx => {
    await deleteRevokedDirectChannel(tx, channel)
    await insertDirectChannel(tx, channel, now)
  })
}

const deleteRevokedDirectChannel = (tx: Tx, { projectId, userId }: DirectChannel) =>
  execute(
    tx,
    `DELETE FROM alert_channels c USING chat_installations i
     WHERE c.project_id = :projectId AND c.person_id = :userId AND i.id = c.chat_installation_id
       AND i.revoked_at IS NOT NULL`,
    { projectId, userId },
  )

const insertDirectChannel = (tx: Tx, channel: DirectChannel, now: Date) =>
  execute(
    tx,
    `INSERT INTO alert_channels (id, project_id, name, type, config, chat_installation_id, person_id, is_default,
       created_at, updated_at)
     SELECT :id, :projectId, 'Direct message', 'chat_a', :config, :installationId, :userId, false, :now, :now
     FROM chat_identities l JOIN chat_installations i ON i.project_id = l.project_id AND i.team_id = l.team_id
     WHERE i.id = :installationId AND l.user_id = :userId AND l.chat_user_id = :chatUserId AND l.disconnected_at IS NULL
     FOR SHARE OF l
     ON CONFLICT (project_id, person_id) WHERE person_id IS NOT NULL DO NOTHING`,
    { ...channel, now },
  )

/** Deletes the direct channel of a member in one installation. */
export const deleteDirectChannel = (tx: Tx, installationId: string, userId: string) =>
  execute(tx, 'DELETE FROM alert_channels WHERE chat_installation_id = ? AND person_id = ?', [installationId, userId])

/** Deletes the direct channel of a member in a team. */
export const deleteDirectChannelInTeam = (tx: Tx, person: { projectId: string; teamId: string; userId: string }) =>
  execute(
    tx,
    `DELETE FROM alert_channels c USING chat_installations i
     WHERE i.id = c.chat_installation_id AND i.project_id = :projectId AND i.team_id = :teamId AND c.person_id = :userId`,
    person,
  )

/** Resumes direct channels that were paused after failures. Users cannot do it, because these channels are hidden. */
export const resumeDirectChannels = (db: Db, installationId: string, now: Date) =>
  execute(
    db,
    `UPDATE alert_channels SET is_paused = false, paused_at = NULL, paused_reason = NULL, consecutive_failures = 0,
       updated_at = :now
     WHERE chat_installation_id = :installationId AND person_id IS NOT NULL AND is_paused`,
    { installationId, now },
  )
