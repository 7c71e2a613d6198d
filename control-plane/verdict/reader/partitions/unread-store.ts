import { type Db, query } from '../../../foundation/platform/postgres/client.ts'

/** A partition without a reader is taken within 10 s. After this, results that arrive are not read by any process. */
const MAX_UNREAD = `interval '2 minutes'`

/** SQL: when the results of the partition `t` were last read. */
export const LAST_READ_SQL = 'coalesce(t.lease_until, t.updated_at)'

/**
 * SQL: no process reads the results of the partition `t`, so statuses are from the time before. A partition that was never read has
 * epoch 0: there was no verdict yet.
 */
export const IS_UNREAD_SQL = `t.epoch > 0 AND ${LAST_READ_SQL} < clock_timestamp() - ${MAX_UNREAD}`

/** SQL: the status of the monitor `m` comes from the results of its partition. */
export const HAS_RESULTS_SQL =
  "m.deleted_at IS NULL AND NOT m.is_paused AND m.type <> 'heartbeat' AND m.data_source_id IS NULL"

/** Since when the results of a project's monitors have not been read; null when all are read. */
export async function findUnreadSince(db: Db, projectId: string): Promise<Date | null> {
  const [row] = await query<{ since: Date | null }>(
    db,
    `SELECT min(${LAST_READ_SQL}) AS since FROM partitions t WHERE ${IS_UNREAD_SQL}
       AND EXISTS (SELECT FROM monitors m WHERE m.project_id = :projectId AND m.partition = t.id AND ${HAS_RESULTS_SQL})`,
    { projectId },
  )
  return row!.since
}

/** Since when the results of one monitor have not been read; null when they are. */
export async function findMonitorUnreadSince(db: Db, monitorId: string): Promise<Date | null> {
  const [row] = await query<{ since: Date }>(
    db,
    `SELECT ${LAST_READ_SQL} AS since FROM partitions t JOIN monitors m ON m.partition = t.id
     WHERE m.id = :monitorId AND ${HAS_RESULTS_SQL} AND ${IS_UNREAD_SQL}`,
    { monitorId },
  )
  return row?.since ?? null
}

/** Whether the results of any partition are not read. */
export async function hasUnreadPartition(db: Db): Promise<boolean> {
  const [row] = await query<{ exists: boolean }>(
    db,
    `SELECT EXISTS (SELECT FROM partitions t WHERE ${IS_UNREAD_SQL}) AS exists`,
  )
  return row!.exists
}
