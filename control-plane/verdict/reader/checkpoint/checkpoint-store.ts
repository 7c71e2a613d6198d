import { type Db, execute, query, queryPrepared } from '../../../foundation/platform/postgres/client.ts'
import { MOVE_POSITION_SQL, type StoredPosition, throwNotMoved } from '../partitions/partition-store.ts'

type StoredCheckpoint = { streamCreated: string; sequence: number; takenAtMs: number; data: Uint8Array }

const COLUMNS = 'partition, stream_created, position, position_taken_at, data'
const VALUES = 'id, :streamCreated, :sequence, to_timestamp(CAST(:takenAtMs AS float8) / 1000), :data'
const REPLACE = `
  ON CONFLICT (partition) DO UPDATE SET stream_created = excluded.stream_created, position = excluded.position,
    position_taken_at = excluded.position_taken_at, data = excluded.data, updated_at = now()`

/** Stores the newest checkpoint of a partition. Does nothing if another owner has taken the partition. */
export async function storeCheckpoint(
  db: Db,
  partition: { id: number; epoch: number },
  { data, ...place }: StoredCheckpoint,
): Promise<void> {
  await execute(
    db,
    `INSERT INTO partition_checkpoints (${COLUMNS}) SELECT ${VALUES} FROM partitions WHERE id = :id AND epoch = :epoch
     ${REPLACE}`,
    { ...partition, ...place, data: Buffer.from(data) },
  )
}

/**
 * Moves the stored position of a partition to that of its newest checkpoint, and stores the checkpoint, in one statement: with
 * few results, each of 16 readers does this every five seconds and nothing else. Throws the errors of `storePosition`.
 */
export async function storePositionAndCheckpoint(
  db: Db,
  partition: { id: number; epoch: number },
  from: StoredPosition,
  { data, ...place }: StoredCheckpoint,
  leaseMs: number,
): Promise<void> {
  const stored = await queryPrepared(
    db,
    'position-and-checkpoint',
    `WITH moved AS (${MOVE_POSITION_SQL} RETURNING id)
     INSERT INTO partition_checkpoints (${COLUMNS}) SELECT ${VALUES} FROM moved ${REPLACE} RETURNING partition`,
    {
      ...{ ...partition, ...place, leaseMs, data: Buffer.from(data) },
      fromSequence: from.sequence,
      fromStream: from.streamCreated,
    },
  )
  if (stored.length === 0) await throwNotMoved(db, partition, from)
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
