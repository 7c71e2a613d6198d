import { type Db, execute, query, queryPrepared, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { MonitorState } from '../../core/types.ts'
import type { VerdictMonitorRow } from '../counting/policy.ts'
import type { PartitionLease } from './share.ts'

/** Another process has taken the partition: its reader has to stop. */
export class FencedError extends Error {}

/** The stored position is not the one that the reader stored last: the reader has to begin again from there. */
export class PositionMovedError extends Error {}

/** A partition as its owner reads it. `positionAtMs`: JetStream time of the message at `position`. */
export type OwnedPartition = {
  id: number
  epoch: number
  position: number
  positionAtMs: number | null
  streamCreated: string | null
}

/** Skips rows that are locked by a commit: they cannot be taken in the meantime, and the commit renews the lease. */
const FREE_ROWS = 'FOR NO KEY UPDATE SKIP LOCKED'

/**
 * All leases use PostgreSQL's clock. A lease that is longer by more than this is from before the clock was set back.
 */
const LEASE_TOLERANCE_MS = 1_000

/** A partition whose reader has seen everything that was published, for this many ms. */
type CompleteReading = { id: number; epoch: number; ms: number }

/**
 * Renews the leases of `owner`, except for the partitions that it cannot read now (`silent`): their leases end, so that
 * another process can take them. Until then they remain the owner's. Leases of other processes that are longer than a
 * lease can be are from before PostgreSQL's clock was set back; they are cut to `leaseMs`, so that the partitions of a
 * process that has ended since become free in time. Stores since when each reader has seen everything (`complete_since`).
 * Returns the owners of all partitions, in the same statement, because each process runs it every 1.5 s.
 */
export function renewLeases(
  db: Db,
  owner: string,
  silent: number[],
  leaseMs: number,
  complete: CompleteReading[] = [],
): Promise<PartitionLease[]> {
  return queryPrepared(
    db,
    'renew-leases',
    `WITH renewed AS (
       UPDATE partitions SET updated_at = now(), lease_until =
         CASE WHEN owner = :owner AND id = ANY(CAST(:silent AS smallint[])) THEN least(lease_until, clock_timestamp())
         ELSE clock_timestamp() + :leaseMs * interval '1 ms' END,
         complete_epoch = CASE WHEN owner = :owner THEN epoch ELSE complete_epoch END,
         complete_since = CASE WHEN owner <> :owner THEN complete_since ELSE coalesce(
           (SELECT clock_timestamp() - row.ms * interval '1 ms'
            FROM jsonb_to_recordset(CAST(:complete AS jsonb)) AS row (id smallint, epoch bigint, ms float8)
            WHERE row.id = partitions.id AND row.epoch = partitions.epoch), 'infinity') END
       WHERE id IN (SELECT id FROM partitions
                    WHERE owner = :owner OR lease_until > clock_timestamp() + :maxMs * interval '1 ms'
                    ORDER BY id ${FREE_ROWS})
       RETURNING id, lease_until)
     SELECT p.id, p.owner, p.epoch,
       coalesce(coalesce(r.lease_until, p.lease_until) > clock_timestamp(), false) AS "isLive"
     FROM partitions p LEFT JOIN renewed r ON r.id = p.id ORDER BY p.id`,
    { owner, silent, leaseMs, maxMs: leaseMs + LEASE_TOLERANCE_MS, complete: JSON.stringify(complete) },
  )
}

/**
 * Makes `owner` the owner of the partitions, with a new epoch that fences the previous owner; its readers have seen nothing
 * yet. A partition has no due time and is chosen by its id, so `claimRows` does not fit.
 */
export async function takePartitions(db: Db, owner: string, ids: number[], leaseMs: number): Promise<void> {
  await execute(
    db,
    `UPDATE partitions SET owner = :owner, epoch = epoch + 1, updated_at = now(), complete_epoch = epoch + 1,
       complete_since = 'infinity',
       lease_until = clock_timestamp() + :leaseMs * interval '1 ms'
     WHERE id IN (SELECT id FROM partitions WHERE id = ANY(CAST(:ids AS smallint[])) AND owner IS DISTINCT FROM :owner
                  ORDER BY id ${FREE_ROWS})`,
    { owner, ids, leaseMs },
  )
}

export function listOwnedPartitions(db: Db, owner: string): Promise<{ id: number; epoch: number }[]> {
  return query(db, 'SELECT id, epoch FROM partitions WHERE owner = ? ORDER BY id', [owner])
}

/** The stored positions of all partitions. */
export function listStoredPositions(
  db: Db,
): Promise<{ id: number; position: number; positionAtMs: number | null; streamCreated: string | null }[]> {
  return query(
    db,
    `SELECT id, position, stream_created AS "streamCreated",
       CAST(extract(epoch FROM position_taken_at) * 1000 AS float8) AS "positionAtMs"
     FROM partitions ORDER BY id`,
  )
}

/**
 * The stored position, after waiting for transactions that move it: one whose connection broke may still commit. Throws
 * a FencedError if another process has taken the partition.
 */
export async function lockPartition(db: Db, id: number, epoch: number): Promise<OwnedPartition> {
  const rows = await query<OwnedPartition>(
    db,
    `SELECT id, epoch, position, stream_created AS "streamCreated",
       CAST(extract(epoch FROM position_taken_at) * 1000 AS float8) AS "positionAtMs"
     FROM partitions WHERE id = ? AND epoch = ? FOR NO KEY UPDATE`,
    [id, epoch],
  )
  if (!rows[0]) throw new FencedError(`partition ${id} has another owner`)
  return rows[0]
}

/** Releases all partitions of `owner`, so that other processes need not wait for the leases to end. */
export async function releasePartitions(db: Db, owner: string): Promise<void> {
  await execute(db, 'UPDATE partitions SET owner = NULL, lease_until = NULL, updated_at = now() WHERE owner = ?', [
    owner,
  ])
}

type PartitionPosition = { sequence: number; takenAtMs: number | null; streamCreated: string }

/** The stored position as far as the partition's reader knows it. */
export type StoredPosition = { sequence: number; streamCreated: string | null }

/** Moves a stored position from the one that the reader knows, and renews the lease. */
export const MOVE_POSITION_SQL = `
  UPDATE partitions SET position = :sequence, position_taken_at = to_timestamp(CAST(:takenAtMs AS float8) / 1000),
    stream_created = :streamCreated, updated_at = now(),
    lease_until = clock_timestamp() + :leaseMs * interval '1 ms'
  WHERE id = :id AND epoch = :epoch AND position = :fromSequence
    AND stream_created IS NOT DISTINCT FROM CAST(:fromStream AS text)`

/**
 * Moves the stored position from the one that the reader knows (`from`), and renews the lease. From then on the
 * transaction waits at most `lockMs` for any other lock. Throws a FencedError if the partition has another epoch, and a
 * PositionMovedError if it has another position: then a transaction was committed without an answer to the reader.
 */
export async function storePosition(
  db: Db | Tx,
  partition: { id: number; epoch: number },
  from: StoredPosition,
  position: PartitionPosition,
  { leaseMs, lockMs }: { leaseMs: number; lockMs: number },
): Promise<void> {
  const touched = await execute(
    db,
    `${MOVE_POSITION_SQL} RETURNING set_config('lock_timeout', CAST(:lockMs AS text), true)`,
    { ...partition, ...position, leaseMs, lockMs, fromSequence: from.sequence, fromStream: from.streamCreated },
  )
  if (touched === 0) await throwNotMoved(db, partition, from)
}

/** Throws the error that says why no position was moved. */
export async function throwNotMoved(
  db: Db | Tx,
  partition: { id: number; epoch: number },
  from: StoredPosition,
): Promise<never> {
  const isOwned = await query(db, 'SELECT FROM partitions WHERE id = :id AND epoch = :epoch', partition)
  if (isOwned.length === 0) throw new FencedError(`partition ${partition.id} has another owner`)
  throw new PositionMovedError(`the position of partition ${partition.id} is no longer ${from.sequence}`)
}

const VERDICT_COLUMNS = `
  m.id, m.config_version AS "configVersion", m.streaks_since AS "streaksSince", m.regions, m.retry_count AS "retryCount",
  m.interval_seconds AS "intervalSeconds", m.timeout_ms AS "timeoutMs", m.witness, m.status,
  m.is_paused AS "isPaused", m.deleted_at IS NOT NULL OR m.data_source_id IS NOT NULL OR m.type = 'heartbeat' AS "isDeleted"`

type StoredVerdictMonitor = VerdictMonitorRow & { state: MonitorState | null }

/** The monitors of a partition with their verdict states. Monitors that no probe checks are left out. */
export function loadPartitionMonitors(db: Db, partition: number): Promise<StoredVerdictMonitor[]> {
  return query(
    db,
    `SELECT ${VERDICT_COLUMNS}, v.state FROM monitors m LEFT JOIN verdict_states v ON v.monitor_id = m.id
     WHERE m.partition = ? AND m.deleted_at IS NULL AND m.data_source_id IS NULL AND m.type <> 'heartbeat'`,
    [partition],
  )
}

/**
 * Some monitors of the partition with their verdict states, including deleted ones. Monitors of data sources and
 * heartbeats count as deleted here.
 */
export function loadMonitors(db: Db, partition: number, monitorIds: string[]): Promise<StoredVerdictMonitor[]> {
  return query(
    db,
    `SELECT ${VERDICT_COLUMNS}, v.state FROM monitors m LEFT JOIN verdict_states v ON v.monitor_id = m.id
     WHERE m.partition = ? AND m.id = ANY(?::uuid[])`,
    [partition, monitorIds],
  )
}

/** The monitors that changed after a revision, in order. */
export function listChangedMonitors(
  db: Db,
  revision: number,
  limit: number,
): Promise<{ id: string; partition: number; revision: number }[]> {
  return query(db, 'SELECT id, partition, revision FROM monitors WHERE revision > ? ORDER BY revision LIMIT ?', [
    revision,
    limit,
  ])
}
