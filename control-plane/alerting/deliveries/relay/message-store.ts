import { newId } from '../../../foundation/platform/ids.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { lockHeldRows } from '../../../foundation/platform/postgres/lease.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'
import { HAS_DUE_LANES_SQL } from '../queue/claim-store.ts'
import { QUEUED_DELIVERY_COLUMNS, QUEUED_DELIVERY_JOINS, type QueuedDelivery } from '../queue/lane-store.ts'
import { MAX_DESTINATION_CONCURRENCY, MAX_RELAY_AGE_MS } from './retry-policy.ts'

/** A message of the relay with everything that rendering, signing and sending need. */
export type RelayMessage = QueuedDelivery & {
  destinationId: string
  origin: string
  failures: number
  handedOverAt: Date
}

type RelayHandover = { id: string; channelId: string; relayOrigin: string }

/** Moves deliveries from their lanes to the relay. Their requests are stored already. */
export async function handOver(tx: Tx, deliveries: RelayHandover[], now: Date): Promise<void> {
  if (deliveries.length === 0) return
  const rows = JSON.stringify(deliveries.map(({ id, relayOrigin }) => ({ id, origin: relayOrigin, newId: newId() })))
  await execute(
    tx,
    `INSERT INTO relay_destinations (id, project_id, origin, created_at, updated_at)
     SELECT DISTINCT ON (d.project_id, r.origin) r."newId", d.project_id, r.origin, :now::timestamptz, :now::timestamptz
     FROM jsonb_to_recordset(:rows::jsonb) AS r (id text, origin text, "newId" uuid) JOIN deliveries d ON d.id = r.id
     ORDER BY d.project_id, r.origin
     ON CONFLICT (project_id, origin) DO NOTHING`,
    { rows, now },
  )
  await execute(
    tx,
    `WITH handed AS (
       UPDATE deliveries d SET relay_origin = r.origin, next_attempt_at = NULL, updated_at = :now
       FROM jsonb_to_recordset(:rows::jsonb) AS r (id text, origin text) WHERE d.id = r.id
       RETURNING d.id, d.project_id, d.channel_id, r.origin
     )
     INSERT INTO relay_messages (delivery_id, destination_id, channel_id, handed_over_at, next_attempt_at)
     SELECT handed.id, o.id, handed.channel_id, :now, :now
     FROM handed JOIN relay_destinations o ON o.project_id = handed.project_id AND o.origin = handed.origin
     ON CONFLICT (delivery_id) DO UPDATE SET destination_id = excluded.destination_id, failures = 0, lease_owner = NULL,
       handed_over_at = excluded.handed_over_at, next_attempt_at = excluded.next_attempt_at`,
    { rows, now },
  )
  await execute(tx, `SELECT pg_notify('relay', '')`)
}

// one step of the index for each destination; destinations with an open circuit are not due
const DUE_DESTINATIONS = `
  WITH RECURSIVE waiting AS (
    (SELECT destination_id FROM relay_messages WHERE next_attempt_at <= :now ORDER BY destination_id LIMIT 1)
    UNION ALL
    SELECT (SELECT m.destination_id FROM relay_messages m
            WHERE m.destination_id > w.destination_id AND m.next_attempt_at <= :now
            ORDER BY m.destination_id LIMIT 1)
    FROM waiting w WHERE w.destination_id IS NOT NULL
  ), due AS MATERIALIZED (
    SELECT o.id FROM waiting w JOIN relay_destinations o ON o.id = w.destination_id
    WHERE o.opened_at IS NULL OR o.next_trial_at <= :now
  )`

/** What is due now. One statement reads it, because the queue is idle most of the time. */
type DueWork = {
  /** lanes to claim */
  lanes: boolean
  /** messages of the relay to send */
  messages: boolean
  /** messages beyond the age limit of the relay */
  oldMessages: boolean
}

export async function findDueWork(db: Db, now: Date): Promise<DueWork> {
  const [due] = await query<DueWork>(
    db,
    `SELECT ${HAS_DUE_LANES_SQL} AS lanes, EXISTS (${DUE_DESTINATIONS} SELECT FROM due) AS messages,
       EXISTS (SELECT FROM relay_messages WHERE handed_over_at <= :relayEnd) AS "oldMessages"`,
    { now, relayEnd: computeRelayCutoff(now) },
  )
  return due!
}

/** A message that was handed over at or before this time has expired. */
const computeRelayCutoff = (now: Date) => new Date(now.getTime() - MAX_RELAY_AGE_MS)

/**
 * `limit`: the free places of the process, of its `capacity`. `takesOver`: whether leases that have ended are taken over
 * (queue/takeover.ts).
 */
export type RelayClaim = { owner: string; leaseMs: number; limit: number; capacity: number; takesOver: boolean }

/**
 * Leases due messages to `owner` for `leaseMs`, at most `limit`. Over all processes a destination has eight at the same time, one when
 * its circuit is half-open, and none when it is open. The project with the fewest messages at `owner` comes first, and none
 * gets more than half of the `capacity` of a process that the others leave free. Messages of channels that another transaction
 * has locked, for example to delete them, are left out. These limits need a statement of their own instead of `claimRows`.
 */
export async function claimMessages(
  tx: Tx,
  { owner, leaseMs, limit, capacity, takesOver }: RelayClaim,
  now: Date,
): Promise<string[]> {
  const due = await query<{ id: string }>(
    tx,
    `${DUE_DESTINATIONS} SELECT id FROM due WHERE pg_try_advisory_xact_lock(${LOCK_KEYS.relay}, hashtext(id::text))`,
    { now },
  )
  if (due.length === 0) return []
  const leased = await query<{ id: string }>(
    tx,
    `WITH held AS MATERIALIZED (
       SELECT o.project_id, count(*) AS mine, sum(count(*)) OVER () AS total
       FROM relay_messages m JOIN relay_destinations o ON o.id = m.destination_id
       WHERE m.lease_owner = :owner AND (m.next_attempt_at > :now OR NOT CAST(:takesOver AS boolean)) GROUP BY o.project_id
     ), room AS MATERIALIZED (
       SELECT o.id, o.project_id, CASE WHEN o.opened_at IS NULL THEN :concurrency::integer ELSE 1 END - (
         SELECT count(*) FROM relay_messages
         WHERE destination_id = o.id AND lease_owner IS NOT NULL
           AND (next_attempt_at > :now OR NOT CAST(:takesOver AS boolean))
       ) AS free
       FROM relay_destinations o
       WHERE o.id = ANY (:ids) AND (o.opened_at IS NULL OR o.next_trial_at <= :now)
     ), ranked AS MATERIALIZED (
       SELECT delivery_id, project_id,
         row_number() OVER (PARTITION BY project_id ORDER BY message.next_attempt_at, delivery_id) AS place
       FROM room, LATERAL (
         SELECT m.delivery_id, m.next_attempt_at FROM relay_messages m JOIN alert_channels c ON c.id = m.channel_id
         WHERE m.destination_id = room.id AND m.next_attempt_at <= :now
           AND (m.lease_owner IS NULL OR CAST(:takesOver AS boolean))
         ORDER BY m.next_attempt_at LIMIT least(greatest(room.free, 0), :limit)
         FOR UPDATE OF m SKIP LOCKED FOR KEY SHARE OF c SKIP LOCKED
       ) AS message
     ), picked AS MATERIALIZED (
       SELECT delivery_id FROM ranked LEFT JOIN held USING (project_id)
       WHERE coalesce(mine, 0) + place
         <= ceil((:capacity - coalesce((SELECT max(total) FROM held), 0) + coalesce(mine, 0)) / 2.0)
       ORDER BY coalesce(mine, 0) + place LIMIT :limit
     )
     UPDATE relay_messages m SET lease_owner = :owner, next_attempt_at = :leaseEnd
     FROM picked WHERE m.delivery_id = picked.delivery_id
     RETURNING m.delivery_id AS id`,
    {
      ids: due.map(({ id }) => id),
      now,
      takesOver,
      leaseEnd: new Date(now.getTime() + leaseMs),
      owner,
      limit,
      capacity,
      concurrency: MAX_DESTINATION_CONCURRENCY,
    },
  )
  return leased.map(({ id }) => id)
}

/** Messages with their events and destinations. Those of paused channels are left out. */
export function loadRelayMessages(tx: Tx, ids: string[]): Promise<RelayMessage[]> {
  return query<RelayMessage>(
    tx,
    `SELECT ${QUEUED_DELIVERY_COLUMNS}, m.destination_id AS "destinationId", o.origin, m.failures, m.handed_over_at AS "handedOverAt"
     FROM relay_messages m
     JOIN relay_destinations o ON o.id = m.destination_id
     JOIN deliveries d ON d.id = m.delivery_id
     JOIN alert_channels c ON c.id = m.channel_id AND NOT c.is_paused
     ${QUEUED_DELIVERY_JOINS}
     JOIN events e ON e.id = d.event_id
     WHERE m.delivery_id = ANY (:ids)`,
    { ids },
  )
}

/** Locks the messages that `owner` still holds. Returns their ids. */
export async function lockMessages(tx: Tx, owner: string, ids: string[]): Promise<Set<string>> {
  const leased = { table: 'relay_messages', key: 'delivery_id', holder: 'lease_owner' }
  const rows = await lockHeldRows<{ id: string }>(tx, leased, 'delivery_id AS id', { keys: ids, holder: owner })
  return new Set(rows.map(({ id }) => id))
}

/** Releases messages until their next attempt. `isFailure`: their receiver failed, so that later waits are longer. */
export async function postponeMessages(
  tx: Tx,
  messages: { id: string; retryAt: Date }[],
  isFailure: boolean,
): Promise<void> {
  if (messages.length === 0) return
  await execute(
    tx,
    `UPDATE relay_messages m SET failures = failures + :added::integer, next_attempt_at = r."retryAt", lease_owner = NULL
     FROM jsonb_to_recordset(:rows::jsonb) AS r (id text, "retryAt" timestamptz) WHERE m.delivery_id = r.id`,
    { rows: JSON.stringify(messages), added: Number(isFailure) },
  )
}

export async function removeMessages(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length > 0) await execute(tx, 'DELETE FROM relay_messages WHERE delivery_id = ANY (?)', [ids])
}

/** Skips the waiting messages of paused channels. Requests in flight end normally (docs/design/deliveries.md#auto-pause). */
export async function skipPausedMessages(tx: Tx, channelIds: string[], now: Date): Promise<void> {
  await execute(
    tx,
    `WITH paused AS (
       SELECT m.delivery_id FROM relay_messages m JOIN alert_channels c ON c.id = m.channel_id AND c.is_paused
       WHERE m.channel_id = ANY (:channelIds) AND m.lease_owner IS NULL
       FOR UPDATE OF m SKIP LOCKED
     ), gone AS (
       DELETE FROM relay_messages m USING paused WHERE m.delivery_id = paused.delivery_id RETURNING m.delivery_id
     )
     UPDATE deliveries d SET status = 'skipped', updated_at = :now FROM gone WHERE d.id = gone.delivery_id`,
    { channelIds: [...new Set(channelIds)], now },
  )
}

/** Skips messages of paused channels that the caller has claimed. */
export async function skipMessages(tx: Tx, ids: string[], now: Date): Promise<void> {
  if (ids.length === 0) return
  await execute(
    tx,
    `UPDATE deliveries SET status = 'skipped', updated_at = :now WHERE id = ANY (:ids) AND status = 'pending'`,
    { ids, now },
  )
  await removeMessages(tx, ids)
}

/**
 * Messages beyond the age limit that are not in flight, at most `limit`. Locks their channels; those of channels that another
 * transaction has locked are left out.
 */
export function lockChannelsOfExpired(tx: Tx, limit: number, now: Date): Promise<{ id: string; channelId: string }[]> {
  return query(
    tx,
    `SELECT m.delivery_id AS id, m.channel_id AS "channelId"
     FROM relay_messages m JOIN alert_channels c ON c.id = m.channel_id
     WHERE m.handed_over_at <= :relayEnd AND (m.lease_owner IS NULL OR m.next_attempt_at <= :now)
     ORDER BY m.handed_over_at LIMIT :limit FOR NO KEY UPDATE OF c SKIP LOCKED`,
    { now, relayEnd: computeRelayCutoff(now), limit },
  )
}

/** Locks the messages that no process is sending. Returns their ids. */
export async function lockIdleMessages(tx: Tx, ids: string[], now: Date): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    tx,
    `SELECT delivery_id AS id FROM relay_messages
     WHERE delivery_id = ANY (:ids) AND (lease_owner IS NULL OR next_attempt_at <= :now) FOR UPDATE SKIP LOCKED`,
    { ids, now },
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Returns deliveries to their lanes: the channel no longer uses the relay, or has another origin. The attempts of the relay do
 * not count there.
 */
export async function returnToLanes(tx: Tx, ids: string[], now: Date): Promise<void> {
  if (ids.length === 0) return
  await execute(
    tx,
    `WITH returned AS (
       UPDATE deliveries SET relay_origin = NULL, updated_at = :now,
         attempts_before_replay = jsonb_array_length(attempts) + attempts_left_out
       WHERE id = ANY (:ids) AND status = 'pending' RETURNING channel_id, subject, project_id
     )
     INSERT INTO delivery_lanes (channel_id, subject, project_id, next_attempt_at)
     SELECT DISTINCT channel_id, subject, project_id, :now::timestamptz FROM returned ORDER BY channel_id, subject
     ON CONFLICT (channel_id, subject) DO UPDATE SET next_attempt_at = delivery_lanes.next_attempt_at`,
    { ids, now },
  )
  await removeMessages(tx, ids)
  await execute(tx, `SELECT pg_notify('deliveries', '')`)
}
