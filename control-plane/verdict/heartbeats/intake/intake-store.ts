import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'

/**
 * A heartbeat is evaluated this long after its deadline, because a ping that was accepted before it may not be stored yet:
 * its commit may take 2 s, its publication to the message stream 3 s, and storing it from there 2 s.
 */
export const STORING_MS = 7_000

/** No process accepted pings between these times, so a ping that is missing may have been sent. */
export type IntakeGap = { from: Date; to: Date }

/** No heartbeat has a deadline. */
const NO_DEADLINES = 'NOT EXISTS (SELECT FROM heartbeats WHERE due_at IS NOT NULL)'

/**
 * Records that pings are accepted now, unless the last record is older than `maxAgeMs` and a heartbeat has a deadline. Returns
 * whether it did, and whether a heartbeat has a deadline.
 */
export async function renewIntakeAlive(
  db: Db,
  maxAgeMs: number,
): Promise<{ isRecorded: boolean; hasDeadlines: boolean }> {
  const [row] = await query<{ hasDeadlines: boolean }>(
    db,
    `UPDATE heartbeat_intake SET listening_at = clock_timestamp()
     WHERE listening_at >= clock_timestamp() - ? * interval '1 ms' OR ${NO_DEADLINES}
     RETURNING NOT (${NO_DEADLINES}) AS "hasDeadlines"`,
    [maxAgeMs],
  )
  return { isRecorded: row !== undefined, hasDeadlines: row?.hasDeadlines ?? true }
}

/** Records that pings are accepted now, and returns the gap before it. One process at a time. */
export async function restartIntake(tx: Tx): Promise<IntakeGap> {
  const [gap] = await query<IntakeGap>(
    tx,
    'SELECT listening_at AS "from", clock_timestamp() AS "to" FROM heartbeat_intake FOR UPDATE',
  )
  await execute(tx, 'UPDATE heartbeat_intake SET listening_at = clock_timestamp()')
  return gap!
}

/** How long ago a process last recorded that pings are accepted, in ms. */
export async function loadIntakeGapMs(db: Db): Promise<number> {
  const [row] = await query<{ ms: number }>(
    db,
    'SELECT CAST(extract(epoch FROM clock_timestamp() - listening_at) * 1000 AS float8) AS ms FROM heartbeat_intake',
  )
  return row!.ms
}

/** A ping can come before its interval is over: by the grace, and by a tenth of the interval, at most a minute. */
const EARLINESS_S = 'coalesce(m.heartbeat_grace, 0) + least(coalesce(m.heartbeat_interval, 0) / 10, 60)'

/**
 * The last success, or the first start before any success, is recent: not longer ago than two intervals and graces, or an
 * hour if that is longer. Otherwise repeated gaps, such as a restart each night, would hide for ever that a job has ended.
 */
const HAS_RECENT_SUCCESS = `coalesce(h.last_success_at, h.run_started_at, h.last_ping_at) >= CAST(:from AS timestamptz)
  - greatest(2 * (coalesce(m.heartbeat_interval, 0) + coalesce(m.heartbeat_grace, 0)), 3600) * interval '1 s'`

/**
 * Gives heartbeats whose ping may have been sent in a gap a whole interval and grace from the end of the gap: it was due,
 * or soon would be, or a run had started. Those whose deadline was shortly before the gap are evaluated `STORING_MS` after
 * its end, because their pings may have to be stored first. Heartbeats that were overdue before, have more time, or had no
 * success for long before the gap are not changed.
 */
export async function extendDeadlines(tx: Tx, { from, to }: IntakeGap): Promise<number> {
  const extended = await query<{ id: string }>(
    tx,
    `SELECT m.id FROM heartbeats h JOIN monitors m ON m.id = h.monitor_id
     WHERE h.due_at > CAST(:from AS timestamptz) - :storingMs * interval '1 ms'
       AND (h.due_at <= :from OR ${HAS_RECENT_SUCCESS}) AND (h.run_started_at IS NOT NULL OR
       h.due_at <= CAST(:to AS timestamptz) + (coalesce(m.heartbeat_grace, 0) + ${EARLINESS_S}) * interval '1 s')
     ORDER BY m.id FOR UPDATE OF m`,
    { from, to, storingMs: STORING_MS },
  )
  return await execute(
    tx,
    `UPDATE heartbeats h SET due_at = greatest(h.due_at, CAST(:to AS timestamptz)
       + CASE WHEN h.due_at > :from THEN coalesce(m.heartbeat_interval, 0) + coalesce(m.heartbeat_grace, 0) ELSE 0 END
         * interval '1 s')
     FROM monitors m WHERE m.id = h.monitor_id AND h.due_at IS NOT NULL AND m.id = ANY(CAST(:ids AS uuid[]))`,
    { from, to, ids: extended.map(({ id }) => id) },
  )
}
