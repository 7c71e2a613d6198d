import { type Db, execute, query } from '../../../foundation/platform/postgres/client.ts'

type StoredCheckpoint = { streamCreated: string; sequence: number; takenAtMs: number; data: Uint8Array }

/** Stores the newest checkpoint of a partition. Does nothing if another owner has taken the partition. */
export async function storeCheckpoint(
  db: Db,
  partition: { id: number; epoch: number },
  { data, ...place }: StoredCheckpoint,
): Promise<void> {
  await execute(
    db,
    `INSERT INTO partition_checkpoints (partition, stream_created, position, position_taken_at, data)
     SELECT id, :streamCreated, :sequence, to_timestamp(CAST(:takenAtMs AS float8) / 1000), :data
     FROM partitions WHERE id = :id AND epoch = :epoch
     ON CONFLICT (partition) DO UPDATE SET stream_created = excluded.stream_created, position = excluded.position,
       position_taken_at = excluded.position_taken_at, data = excluded.data, updated_at = now()`,
    { ...partition, ...place, data: Buffer.from(data) },
  )
}

export async function findStoredCheckpoint(db: Db, partition: number): Promise<StoredCheckpoint | null> {
  const [row] = await query<StoredCheckpoint>(
    db,
    `SELECT stream_created AS "streamCreated", position AS sequence, data,
       CAST(extract(epoch FROM position_taken_at) * 1000 AS float8) AS "takenAtMs"
     FROM partition_checkpoints WHERE partition = ?`,
    [partition],
  )
  return row ?? null
}
