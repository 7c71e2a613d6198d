import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'

/** Nobody took pings between these two times, so what did not arrive then may well have been sent. */
export type IntakeGap = { from: Date; to: Date }

/** Records that pings are being taken now, unless the last record is older than `limitMs`. Returns whether it did. */
export async function renewIntakeAlive(db: Db, limitMs: number): Promise<boolean> {
  const touched = await execute(
    db,
    `UPDATE heartbeat_intake SET listening_at = clock_timestamp()
     WHERE listening_at >= clock_timestamp() - ? * interval '1 ms'`,
    [limitMs],
  )
  return touched > 0
}

/** Says that pings are being taken now, and answers since when nobody had said so. One process at a time. */
export async function restartIntake(tx: Tx): Promise<IntakeGap> {
  const [silence] = await query<IntakeGap>(
    tx,
    'SELECT listening_at AS "from", clock_timestamp() AS "to" FROM heartbeat_intake FOR UPDATE',
  )
  await execute(tx, 'UPDATE heartbeat_intake SET listening_at = clock_timestamp()')
  return silence!
}

/** How long ago somebody last said that pings are being taken, in ms. */
export async function loadIntakeGapMs(db: Db): Promise<number> {
  const [row] = await query<{ ms: number }>(
    db,
    'SELECT CAST(extract(epoch FROM clock_timestamp() - listening_at) * 1000 AS float8) AS ms FROM heartbeat_intake',
  )
  return row!.ms
}

/**
 * Gives heartbeats whose ping could be expected in a silence a whole interval and its grace from its end. One that was
 * overdue before it, or has more time than that, stays as it was.
 */
export async function extendDeadlines(tx: Tx, { from, to }: IntakeGap): Promise<number> {
  const excused = await query<{ id: string }>(
    tx,
    `SELECT m.id FROM heartbeats h JOIN monitors m ON m.id = h.monitor_id
     WHERE h.due_at > :from AND h.due_at <= CAST(:to AS timestamptz) + coalesce(m.heartbeat_grace, 0) * interval '1 s'
     ORDER BY m.id FOR UPDATE OF m`,
    { from, to },
  )
  return await execute(
    tx,
    `UPDATE heartbeats h SET due_at = greatest(h.due_at, CAST(:to AS timestamptz)
       + (coalesce(m.heartbeat_interval, 0) + coalesce(m.heartbeat_grace, 0)) * interval '1 s')
     FROM monitors m WHERE m.id = h.monitor_id AND h.due_at IS NOT NULL AND m.id = ANY(CAST(:ids AS uuid[]))`,
    { to, ids: excused.map(({ id }) => id) },
  )
}
