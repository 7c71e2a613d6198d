import { execute, query, type Tx } from '../platform/postgres.ts'

type RelaySource = { channelId: string; projectId: string; relaySourceId: string }

/** False when a channel of another project has the id and `isOfOne` asks for ids of one project only. The channel is locked or new. */
export async function bindRelaySource(tx: Tx, source: RelaySource, isOfOne: boolean): Promise<boolean> {
  if (isOfOne && (await isTaken(tx, source))) return false
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

async function isTaken(tx: Tx, source: RelaySource): Promise<boolean> {
  // one after the other, so that two projects cannot take the same id at once
  await execute(tx, 'LOCK TABLE relay_sources IN SHARE ROW EXCLUSIVE MODE', {})
  const taken = await query(
    tx,
    'SELECT 1 FROM relay_sources WHERE relay_source_id = :relaySourceId AND project_id <> :projectId LIMIT 1',
    source,
  )
  return taken.length > 0
}
