import { lockChatInstallations, scheduleMatches } from '../../../alerting/channels/chat-match-store.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'
import type { StoredInstallation } from './installation.ts'

export const INSTALLATION_COLUMNS = `
  id, project_id AS "projectId", team_id AS "teamId", team_name AS "teamName", scopes, tokens,
  token_expires_at AS "tokenExpiresAt", renew_at AS "renewAt", installed_by AS "installedBy",
  installed_at AS "installedAt", revoked_at AS "revokedAt", default_channel_id AS "defaultChannelId",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/** Returns the installations of a project, newest first, and their total number. Without a page, all of them. */
export async function listInstallations(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number } | null,
): Promise<{ rows: StoredInstallation[]; total: number }> {
  const rows = await query<StoredInstallation>(
    db,
    `SELECT ${INSTALLATION_COLUMNS} FROM chat_installations WHERE project_id = :projectId
     ORDER BY id DESC ${page ? 'LIMIT :limit OFFSET :offset' : ''}`,
    { projectId, ...page },
  )
  if (page === null) return { rows, total: rows.length }
  const sql = 'SELECT count(*) AS total FROM chat_installations WHERE project_id = ?'
  const [count] = await query<{ total: number }>(db, sql, [projectId])
  return { rows, total: count?.total ?? 0 }
}

/** Finds an installation. `id` must be a valid id. */
export async function findInstallation(db: Db, projectId: string, id: string): Promise<StoredInstallation | null> {
  const sql = `SELECT ${INSTALLATION_COLUMNS} FROM chat_installations WHERE project_id = ? AND id = ?`
  const [row] = await query<StoredInstallation>(db, sql, [projectId, id])
  return row ?? null
}

/** Serializes installations of a team until the transaction ends. */
export const lockTeam = (tx: Tx, teamId: string): Promise<unknown> =>
  query(tx, `SELECT pg_advisory_xact_lock(${LOCK_KEYS.chatTeams}, hashtext(?))`, [teamId])

/** Returns the installations of a team in all projects. */
export const listTeamInstallations = (db: Db, teamId: string): Promise<StoredInstallation[]> =>
  query(db, `SELECT ${INSTALLATION_COLUMNS} FROM chat_installations WHERE team_id = ? ORDER BY id`, [teamId])

/** Inserts or replaces an installation. Violates a unique index when another project has the team. */
export async function saveInstallation(tx: Tx, installation: StoredInstallation): Promise<void> {
  await execute(
    tx,
    `INSERT INTO chat_installations (id, project_id, team_id, team_name, scopes, tokens, token_expires_at, renew_at,
       people_due_at, installed_by, installed_at, revoked_at, default_channel_id, created_at, updated_at)
     VALUES (:id, :projectId, :teamId, :teamName, :scopes::text[], :tokens, :tokenExpiresAt, :renewAt, :updatedAt,
       :installedBy, :installedAt, NULL, :defaultChannelId, :createdAt, :updatedAt)
     ON CONFLICT (id) DO UPDATE SET team_name = excluded.team_name, scopes = excluded.scopes, tokens = excluded.tokens,
       token_expires_at = excluded.token_expires_at, renew_at = excluded.renew_at,
       people_due_at = excluded.people_due_at, installed_by = excluded.installed_by,
       installed_at = excluded.installed_at, revoked_at = NULL, updated_at = excluded.updated_at`,
    installation,
  )
}

export const setDefaultChannel = (tx: Tx, id: string, channelId: string) =>
  execute(tx, 'UPDATE chat_installations SET default_channel_id = ? WHERE id = ?', [channelId, id])

/**
 * Deletes an installation and its channels, which are locked first. Returns the deleted row, or null. The other installations of
 * the project are due for a match of people.
 */
export async function deleteInstallation(
  tx: Tx,
  projectId: string,
  id: string,
  now: Date,
): Promise<StoredInstallation | null> {
  const ofInstallation = 'alert_channels WHERE project_id = ? AND chat_installation_id = ?'
  await query(tx, `SELECT FROM ${ofInstallation} ORDER BY id FOR UPDATE`, [projectId, id])
  await lockChatInstallations(tx, [projectId])
  await execute(tx, `DELETE FROM ${ofInstallation}`, [projectId, id])
  const sql = `DELETE FROM chat_installations WHERE project_id = ? AND id = ? RETURNING ${INSTALLATION_COLUMNS}`
  const [row] = await query<StoredInstallation>(tx, sql, [projectId, id])
  if (row) await scheduleMatches(tx, [projectId], now)
  return row ?? null
}

/**
 * Marks an installation as revoked, unless it was installed again meanwhile. The other installations of the project are due for a
 * match of people.
 */
export async function markRevoked(
  db: Db,
  { id, projectId, tokens }: Pick<StoredInstallation, 'id' | 'projectId' | 'tokens'>,
  now: Date,
): Promise<void> {
  await db.transaction(async tx => {
    await lockChatInstallations(tx, [projectId])
    const changed = await execute(
      tx,
      `UPDATE chat_installations SET revoked_at = :now, updated_at = :now
       WHERE id = :id AND tokens = :tokens AND revoked_at IS NULL`,
      { id, tokens, now },
    )
    if (changed > 0) await scheduleMatches(tx, [projectId], now)
  })
}

/** Claims a hash until `forgetAt`. Returns true the first time. */
export async function claimOnce(db: Db, hash: Buffer, forgetAt: Date): Promise<boolean> {
  const sql = 'INSERT INTO chat_spent (hash, forget_at) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING'
  return (await execute(db, sql, [hash, forgetAt])) === 1
}

export const deleteExpiredClaims = (db: Db, now: Date) =>
  execute(db, 'DELETE FROM chat_spent WHERE forget_at < ?', [now])

type RenewedTokens = Pick<StoredInstallation, 'id' | 'tokens' | 'tokenExpiresAt' | 'renewAt'>

/** Replaces tokens by renewed ones, if they have not changed meanwhile. */
export async function saveRenewedTokens(db: Db, renewed: RenewedTokens, before: Buffer, now: Date): Promise<void> {
  await execute(
    db,
    `UPDATE chat_installations SET tokens = :tokens, token_expires_at = :tokenExpiresAt, renew_at = :renewAt,
       renewing_until = NULL, updated_at = :now
     WHERE id = :id AND tokens = :before`,
    { ...renewed, before, now },
  )
}

/** Schedules a check of an installation now: whether the team still has the app, and who its people are. */
export async function scheduleInstallationCheck(db: Db, id: string, now: Date): Promise<void> {
  await execute(db, 'UPDATE chat_installations SET people_due_at = ? WHERE id = ?', [now, id])
  await execute(db, `SELECT pg_notify('chat', '')`)
}

/** Schedules a check of the active installation of a team, if any. */
export async function scheduleTeamCheck(db: Db, teamId: string, now: Date): Promise<void> {
  const active = (await listTeamInstallations(db, teamId)).find(({ revokedAt }) => revokedAt === null)
  if (active) await scheduleInstallationCheck(db, active.id, now)
}
