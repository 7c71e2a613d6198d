import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'
import { decryptConfig } from '../../channels/config/encrypted-config.ts'
import { CHANNEL_TYPES, type ChannelType, getChannelKind } from '../../channels/registry.ts'

type RelaySource = { channelId: string; projectId: string; relaySourceId: string }

/** Stores the relay source of a channel. False when `isExclusive` and the id belongs to another project. The channel is locked or new. */
export async function bindRelaySource(tx: Tx, source: RelaySource, isExclusive: boolean): Promise<boolean> {
  if (isExclusive && (await isTaken(tx, source))) return false
  await execute(
    tx,
    `INSERT INTO relay_sources (channel_id, project_id, relay_source_id)
     VALUES (:channelId, :projectId, :relaySourceId)
     ON CONFLICT (channel_id) DO UPDATE SET relay_source_id = EXCLUDED.relay_source_id`,
    source,
  )
  return true
}

export async function releaseRelaySource(tx: Tx, channelId: string): Promise<void> {
  await execute(tx, 'DELETE FROM relay_sources WHERE channel_id = ?', [channelId])
}

/** An id that several projects have, from before ids were exclusive, belongs to the project of the oldest channel. */
async function isTaken(tx: Tx, { relaySourceId, projectId }: RelaySource): Promise<boolean> {
  // serialized, so that two projects cannot take the same id at the same time
  await tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.relaySources}, hashtext(?))`, [relaySourceId])
  return isForeignRelaySource(tx, projectId, relaySourceId)
}

/** True when the id belongs to another project now. */
export async function isForeignRelaySource(db: Db, projectId: string, relaySourceId: string): Promise<boolean> {
  const [owner] = await query<{ projectId: string }>(
    db,
    `SELECT project_id AS "projectId" FROM relay_sources WHERE relay_source_id = ? ORDER BY channel_id LIMIT 1`,
    [relaySourceId],
  )
  return owner !== undefined && owner.projectId !== projectId
}

const BATCH_SIZE = 500
const NIL_UUID = '00000000-0000-0000-0000-000000000000'
const TYPES = CHANNEL_TYPES.filter(type => getChannelKind(type).getRelayId)

type Unbound = { id: string; projectId: string; type: ChannelType; config: Buffer }

/**
 * Stores the relay sources of channels that a process of the previous version wrote, in the next batch of channels after
 * an id ('' for the first batch). Returns the last id of the batch; null when there are no more. Several processes may run
 * it: a channel that another one has locked is left to that process or to the next round.
 */
export async function bindMissingRelaySources(db: Db, secrets: SecretCipher, after: string): Promise<string | null> {
  const channels = await query<Unbound>(
    db,
    `SELECT id, project_id AS "projectId", type, config FROM alert_channels c
     WHERE id > :after AND type = ANY (:types) AND NOT EXISTS (SELECT FROM relay_sources WHERE channel_id = c.id)
     ORDER BY id LIMIT ${BATCH_SIZE}`,
    { after: after === '' ? NIL_UUID : after, types: TYPES },
  )
  const sources = channels.flatMap(({ id, config, ...rest }) => {
    const relaySourceId = findRelaySourceId({ id, config, ...rest }, secrets)
    return relaySourceId === null ? [] : [{ id, config: config.toString('hex'), relaySourceId }]
  })
  if (sources.length > 0) await bindUnchanged(db, sources)
  return channels.length < BATCH_SIZE ? null : channels.at(-1)!.id
}

/** Null also for a config that the key does not decrypt; `npm run admin -- secrets check` reports it. */
function findRelaySourceId(channel: Unbound, secrets: SecretCipher): string | null {
  try {
    return getChannelKind(channel.type).getRelayId?.(decryptConfig(channel, secrets)) ?? null
  } catch {
    return null
  }
}

/** Skips channels whose config has changed since it was read. */
const bindUnchanged = (db: Db, sources: { id: string; config: string; relaySourceId: string }[]) =>
  execute(
    db,
    `INSERT INTO relay_sources (channel_id, project_id, relay_source_id)
     SELECT c.id, c.project_id, r."relaySourceId"
     FROM jsonb_to_recordset(:rows::jsonb) AS r (id uuid, config text, "relaySourceId" text)
     JOIN alert_channels c ON c.id = r.id AND c.config = decode(r.config, 'hex')
     ORDER BY c.id FOR SHARE OF c SKIP LOCKED
     ON CONFLICT DO NOTHING`,
    { rows: JSON.stringify(sources) },
  )
