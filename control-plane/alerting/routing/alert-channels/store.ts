import { isId } from '../../../foundation/platform/ids.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'
import type { RecordVersion } from '../../../foundation/web/conditions/record-version.ts'
import type { ChannelType } from '../../channels/registry.ts'
import type { ChatInstallationRef } from '../../deliveries/queue/lane-store.ts'

/**
 * A row of `alert_channels` that belongs to a project, not to the subscribers of a status page or to one person. `config`
 * and `signingSecret` are encrypted (channels/config/encrypted-config.ts).
 */
export type StoredChannel = {
  id: string
  projectId: string
  name: string
  type: ChannelType
  config: Buffer
  /** null for kinds that do not sign */
  signingSecret: Buffer | null
  /** the chat installation that sends its messages; null: none */
  chatInstallationId: string | null
  isDefault: boolean
  isPaused: boolean
  pausedAt: Date | null
  pausedReason: string | null
  consecutiveFailures: number
  createdAt: Date
  updatedAt: Date
}

const COLUMNS = `
  id, project_id AS "projectId", name, type, config, signing_secret AS "signingSecret",
  chat_installation_id AS "chatInstallationId", is_default AS "isDefault",
  is_paused AS "isPaused", paused_at AS "pausedAt", paused_reason AS "pausedReason",
  consecutive_failures AS "consecutiveFailures", created_at AS "createdAt", updated_at AS "updatedAt"`

/** SQL: the channel belongs to the project itself. */
const IS_PROJECT_CHANNEL_SQL = 'page_id IS NULL AND person_id IS NULL'

export const CHANNEL_VERSION: RecordVersion = {
  noun: 'channel',
  table: 'alert_channels',
  ignored: ['consecutive_failures', 'is_paused', 'paused_at', 'paused_reason', 'pause_announced_at'],
  scope: `project_id = CAST(:projectId AS uuid) AND ${IS_PROJECT_CHANNEL_SQL}`,
}

/** One page of a project's channels, newest first, and the total. */
export async function listChannels(
  db: Db,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: StoredChannel[]; total: number }> {
  const rows = await query<StoredChannel>(
    db,
    `SELECT ${COLUMNS} FROM alert_channels WHERE project_id = ? AND ${IS_PROJECT_CHANNEL_SQL} ORDER BY id DESC LIMIT ? OFFSET ?`,
    [projectId, limit, offset],
  )
  const [count] = await query<{ total: number }>(
    db,
    `SELECT count(*) AS total FROM alert_channels WHERE project_id = ? AND ${IS_PROJECT_CHANNEL_SQL}`,
    [projectId],
  )
  return { rows, total: count?.total ?? 0 }
}

/** Lets one transaction at a time decide about the hosts of a project's channels. Take it before the lock of a channel. */
export const lockHosts = (tx: Tx, projectId: string) =>
  tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.channelHosts}, hashtext(?))`, [projectId])

/** All channels of a project. */
export const listAllChannels = (db: Db, projectId: string): Promise<StoredChannel[]> =>
  query(db, `SELECT ${COLUMNS} FROM alert_channels WHERE project_id = ? AND ${IS_PROJECT_CHANNEL_SQL}`, [projectId])

/** One channel. `id` must be a valid id. */
export async function findChannel(db: Db, projectId: string, id: string): Promise<StoredChannel | null> {
  const sql = `SELECT ${COLUMNS} FROM alert_channels WHERE project_id = ? AND id = ? AND ${IS_PROJECT_CHANNEL_SQL}`
  const [row] = await query<StoredChannel>(db, sql, [projectId, id])
  return row ?? null
}

/** The same, not deleted until the transaction ends. It can be changed and paused meanwhile. */
export async function holdChannel(tx: Tx, projectId: string, id: string): Promise<StoredChannel | null> {
  const sql = `SELECT ${COLUMNS} FROM alert_channels WHERE project_id = ? AND id = ? AND ${IS_PROJECT_CHANNEL_SQL} FOR KEY SHARE`
  const [row] = await query<StoredChannel>(tx, sql, [projectId, id])
  return row ?? null
}

/** The same, locked until the transaction ends. Rules can still be linked to it. Deliveries must not be queued after it. */
export async function lockChannel(tx: Tx, projectId: string, id: string): Promise<StoredChannel | null> {
  const sql = `SELECT ${COLUMNS} FROM alert_channels WHERE project_id = ? AND id = ? AND ${IS_PROJECT_CHANNEL_SQL} FOR NO KEY UPDATE`
  const [row] = await query<StoredChannel>(tx, sql, [projectId, id])
  return row ?? null
}

export async function insertChannel(db: Db, channel: StoredChannel): Promise<void> {
  await execute(
    db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, signing_secret, chat_installation_id, is_default,
       created_at, updated_at)
     VALUES (:id, :projectId, :name, :type, :config, :signingSecret, :chatInstallationId, :isDefault,
       :createdAt, :updatedAt)`,
    channel,
  )
}

/** Writes a channel that the caller has locked. */
export async function updateChannel(tx: Tx, channel: StoredChannel): Promise<void> {
  await execute(
    tx,
    `UPDATE alert_channels SET name = :name, config = :config, signing_secret = :signingSecret,
       chat_installation_id = :chatInstallationId, is_default = :isDefault, is_paused = :isPaused, paused_at = :pausedAt, paused_reason = :pausedReason,
       consecutive_failures = :consecutiveFailures, updated_at = :updatedAt
     WHERE id = :id AND project_id = :projectId`,
    channel,
  )
}

/** Deletes a channel with its rules and its log. False when there is none. */
export async function deleteChannel(db: Db, projectId: string, id: string): Promise<boolean> {
  const sql = `DELETE FROM alert_channels WHERE project_id = ? AND id = ? AND ${IS_PROJECT_CHANNEL_SQL}`
  return (await execute(db, sql, [projectId, id])) === 1
}

/** True when the project has this chat installation. It cannot be deleted until the transaction ends. */
export async function holdChatInstallation(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const sql = 'SELECT id FROM chat_installations WHERE project_id = ? AND id = ? FOR KEY SHARE'
  return (await query(tx, sql, [projectId, id])).length === 1
}

/** A chat installation of the project, for a channel that is not stored; null when there is none or the id is malformed. */
export async function findChatInstallation(db: Db, projectId: string, id: string): Promise<ChatInstallationRef | null> {
  if (!isId(id)) return null
  const [row] = await query<ChatInstallationRef>(
    db,
    `SELECT id, encode(tokens, 'hex') AS tokens, revoked_at IS NOT NULL AS "isRevoked"
     FROM chat_installations WHERE project_id = ? AND id = ?`,
    [projectId, id],
  )
  return row ?? null
}
