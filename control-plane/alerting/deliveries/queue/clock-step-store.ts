import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { CLOCK_TOLERANCE_MS } from '../../../foundation/platform/time/clock.ts'
import { lockChannels, releaseLanes } from './lane-store.ts'
import type { Lane } from './lanes.ts'

/** How many lanes one transaction changes. */
const MAX_LANES_PER_TRANSACTION = 500

const WRITTEN_IN_FUTURE_SQL = `status = 'pending' AND relay_origin IS NULL AND updated_at > CAST(:latest AS timestamptz)`

/**
 * Reschedules deliveries after PostgreSQL's clock was set back. The next attempt of a row that was written while the
 * clock was ahead is too late by the error of the clock. It gets the wait that was intended, counted from now. Returns
 * how many lanes it changed; call it until it returns 0. No lease is longer than `leaseMs` afterwards. Locked lanes are skipped.
 */
export async function rescheduleAfterClockStep(tx: Tx, now: Date, leaseMs: number): Promise<number> {
  const latest = new Date(now.getTime() + CLOCK_TOLERANCE_MS)
  const late = await releaseLateLanes(tx, latest, now)
  // channels must be locked before lanes, so the rest is left to another transaction
  if (late > 0) return late
  const found = await query<Lane>(
    tx,
    `SELECT DISTINCT channel_id AS "channelId", subject FROM deliveries WHERE ${WRITTEN_IN_FUTURE_SQL} LIMIT :most`,
    { latest, most: MAX_LANES_PER_TRANSACTION },
  )
  if (found.length === 0) {
    await shortenLeases(tx, now, leaseMs)
    return 0
  }
  await lockChannels(tx, found)
  const lanes = await query<Lane & { isLeased: boolean }>(
    tx,
    `SELECT channel_id AS "channelId", subject, lease_owner IS NOT NULL AS "isLeased" FROM delivery_lanes
     WHERE (channel_id, subject) IN (SELECT * FROM unnest(:channels::uuid[], :subjects::text[]))
     ORDER BY channel_id, subject FOR UPDATE SKIP LOCKED`,
    toColumns(found),
  )
  await execute(
    tx,
    `UPDATE deliveries SET updated_at = :now,
       next_attempt_at = CAST(:now AS timestamptz) + greatest(next_attempt_at - updated_at, interval '0')
     WHERE ${WRITTEN_IN_FUTURE_SQL} AND (channel_id, subject) IN (SELECT * FROM unnest(:channels::uuid[], :subjects::text[]))`,
    { ...toColumns(lanes), latest, now },
  )
  await releaseLanes(
    tx,
    lanes.filter(({ isLeased }) => !isLeased),
    now,
  )
  return lanes.length
}

const toColumns = (lanes: Lane[]) => ({
  channels: lanes.map(lane => lane.channelId),
  subjects: lanes.map(lane => lane.subject),
})

/**
 * Releases lanes that are due later than their first delivery. That delivery was written with the correct clock, but the
 * delivery before it ended while the clock was ahead.
 */
async function releaseLateLanes(tx: Tx, latest: Date, now: Date): Promise<number> {
  const lanes = await query<Lane>(
    tx,
    `SELECT l.channel_id AS "channelId", l.subject FROM delivery_lanes l
     WHERE l.lease_owner IS NULL AND l.next_attempt_at > :latest AND l.next_attempt_at > coalesce((
       SELECT d.next_attempt_at FROM deliveries d
       WHERE d.channel_id = l.channel_id AND d.subject = l.subject AND d.status = 'pending' AND d.relay_origin IS NULL
       ORDER BY d.seq LIMIT 1), '-infinity')
     LIMIT :most FOR UPDATE SKIP LOCKED`,
    { latest, most: MAX_LANES_PER_TRANSACTION },
  )
  await releaseLanes(tx, lanes, now)
  return lanes.length
}

/** Shortens leases that were taken while the clock was ahead to the normal length. */
async function shortenLeases(tx: Tx, now: Date, leaseMs: number): Promise<void> {
  const leaseEnd = new Date(now.getTime() + leaseMs)
  await execute(
    tx,
    `UPDATE delivery_lanes SET next_attempt_at = :leaseEnd
     WHERE (channel_id, subject) IN (
       SELECT channel_id, subject FROM delivery_lanes
       WHERE lease_owner IS NOT NULL AND next_attempt_at > CAST(:leaseEnd AS timestamptz) + interval '1 second'
       FOR UPDATE SKIP LOCKED)`,
    { leaseEnd },
  )
}
