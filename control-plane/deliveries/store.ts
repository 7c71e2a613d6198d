import type { EventDataOf, EventName } from '../events/catalog.ts'
import { type Db, execute, query, type Tx } from '../platform/postgres.ts'
import { CHANNEL_CONCURRENCY, type Lane, LEASE_MS } from './lanes.ts'
import type { DeliveryRow } from './log-entry.ts'
import type { LoggedAttempt } from './types.ts'

/** The delivery at the head of a lane, with all that is needed to render, sign and send it. */
export type Head = Lane & {
  id: string
  projectId: string
  eventName: EventName
  eventData: EventDataOf<EventName>
  isReplay: boolean
  attemptsMade: number
  createdAt: Date
  body: Buffer | null
  channelType: string
  config: Buffer
  signingSecret: Buffer | null
}

/**
 * Leases due lanes to `owner`, at most `limit` and eight a channel over all processes. A channel is given out by one
 * process at a time (advisory lock), so that the eight hold; a channel that another process is handing out is left
 * to it. Among the channels each gets its first lane before any gets its second.
 */
export async function claimLanes(tx: Tx, owner: string, limit: number, now: Date): Promise<Lane[]> {
  const channels = await query<{ channel_id: string }>(tx, DUE_CHANNELS, { now })
  if (channels.length === 0) return []
  return query<Lane>(tx, CLAIM, {
    channels: channels.map(row => row.channel_id),
    now,
    leaseEnd: new Date(now.getTime() + LEASE_MS),
    owner,
    limit,
    concurrency: CHANNEL_CONCURRENCY,
  })
}

// One step of the index a channel instead of a scan of all that is due.
const DUE_CHANNELS = `
  WITH RECURSIVE channels AS (
    (SELECT channel_id FROM delivery_lanes WHERE next_attempt_at <= :now ORDER BY channel_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.channel_id FROM delivery_lanes l
            WHERE l.channel_id > c.channel_id AND l.next_attempt_at <= :now
            ORDER BY l.channel_id LIMIT 1)
    FROM channels c WHERE c.channel_id IS NOT NULL
  ), due AS MATERIALIZED (SELECT channel_id FROM channels WHERE channel_id IS NOT NULL)
  SELECT channel_id FROM due WHERE pg_try_advisory_xact_lock(7026002, hashtext(channel_id::text))`

const CLAIM = `
  WITH room AS MATERIALIZED (
    SELECT channel_id, :concurrency - (
      SELECT count(*) FROM delivery_lanes held
      WHERE held.channel_id = due.channel_id AND held.lease_owner IS NOT NULL AND held.next_attempt_at > :now
    ) AS free
    FROM unnest(:channels::uuid[]) AS due (channel_id)
  ), ranked AS MATERIALIZED (
    SELECT lane.*, row_number() OVER (PARTITION BY lane.channel_id ORDER BY lane.next_attempt_at) AS rank
    FROM room, LATERAL (
      SELECT channel_id, subject, next_attempt_at FROM delivery_lanes
      WHERE channel_id = room.channel_id AND next_attempt_at <= :now
      ORDER BY next_attempt_at LIMIT greatest(room.free, 0) FOR UPDATE SKIP LOCKED
    ) AS lane
  ), picked AS (
    SELECT channel_id, subject FROM ranked ORDER BY rank, next_attempt_at LIMIT :limit
  )
  UPDATE delivery_lanes l SET lease_owner = :owner, next_attempt_at = :leaseEnd
  FROM picked WHERE l.channel_id = picked.channel_id AND l.subject = picked.subject
  RETURNING l.channel_id AS "channelId", l.subject`

/** The first pending delivery of each lane. A lane without one, or of a paused channel, is not answered. */
export function headsOf(tx: Tx, lanes: Lane[]): Promise<Head[]> {
  return query<Head>(
    tx,
    `SELECT l.channel_id AS "channelId", l.subject, d.id, d.project_id AS "projectId", d.event_name AS "eventName",
       e.data AS "eventData", d.is_replay AS "isReplay",
       jsonb_array_length(d.attempts) - d.attempts_before_replay AS "attemptsMade", d.created_at AS "createdAt",
       d.request_body AS body, c.type AS "channelType", c.config, c.signing_secret AS "signingSecret"
     FROM unnest(:channels::uuid[], :subjects::text[]) AS l (channel_id, subject)
     JOIN alert_channels c ON c.id = l.channel_id AND NOT c.is_paused
     JOIN LATERAL (
       SELECT * FROM deliveries
       WHERE channel_id = l.channel_id AND subject = l.subject AND status = 'pending' ORDER BY seq LIMIT 1
     ) d ON true
     JOIN events e ON e.id = d.event_id`,
    columnsOf(lanes),
  )
}

/** What was made of a delivery in the claim, before it is sent: the bytes stay, the address may change. */
export type Rendered = {
  id: string
  message: { body: Buffer }
  shown: { url: string; headers: Record<string, string> }
}

export async function storeRendered(tx: Tx, rendered: Rendered[], now: Date): Promise<void> {
  if (rendered.length === 0) return
  await execute(
    tx,
    `UPDATE deliveries d SET request_url = r.url, request_headers = r.headers::jsonb, request_body = r.body, updated_at = :now
     FROM unnest(:ids::text[], :urls::text[], :headers::text[], :bodies::bytea[]) AS r (id, url, headers, body)
     WHERE d.id = r.id`,
    {
      ids: rendered.map(row => row.id),
      urls: rendered.map(row => row.shown.url),
      headers: rendered.map(row => JSON.stringify(row.shown.headers)),
      bodies: rendered.map(row => row.message.body),
      now,
    },
  )
}

/** Keeps channels from being deleted until the transaction ends; counting their failures goes on. */
export async function lockChannels(tx: Tx, rows: { channelId: string }[]): Promise<void> {
  await query(tx, 'SELECT FROM alert_channels WHERE id = ANY (?::uuid[]) ORDER BY id FOR KEY SHARE', [
    [...new Set(rows.map(row => row.channelId))],
  ])
}

/** Locks those of the lanes that `owner` still holds, in the order in which everybody locks channels and lanes. */
export async function lockHeldLanes(tx: Tx, owner: string, lanes: Lane[]): Promise<Lane[]> {
  await lockChannels(tx, lanes)
  return query<Lane>(
    tx,
    `SELECT channel_id AS "channelId", subject FROM delivery_lanes
     WHERE lease_owner = :owner
       AND (channel_id, subject) IN (SELECT * FROM unnest(:channels::uuid[], :subjects::text[]))
     ORDER BY channel_id, subject FOR UPDATE`,
    { ...columnsOf(lanes), owner },
  )
}

export type Recorded = { id: string; attempt: LoggedAttempt; status: string; retryAt: Date | null }

/** Adds an attempt to each delivery's log. One that is no longer pending was ended by somebody else and stays as it is. */
export async function recordAttempts(tx: Tx, recorded: Recorded[], now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE deliveries d SET attempts = d.attempts || r.attempt, status = r.status, next_attempt_at = r.retry_at,
       updated_at = :now
     FROM jsonb_to_recordset(:rows::jsonb) AS r (id text, attempt jsonb, status text, retry_at timestamptz)
     WHERE d.id = r.id AND d.status = 'pending'`,
    {
      rows: JSON.stringify(
        recorded.map(({ id, attempt, status, retryAt }) => ({ id, attempt, status, retry_at: retryAt })),
      ),
      now,
    },
  )
}

/**
 * Gives lanes back: due when their next delivery is, or gone when nothing pends. The lanes are locked, so a delivery
 * that is being added is either visible here or makes its lane anew.
 */
export async function releaseLanes(tx: Tx, lanes: Lane[], now: Date): Promise<void> {
  if (lanes.length === 0) return
  const bindings = { ...columnsOf(lanes), now }
  await execute(
    tx,
    `UPDATE delivery_lanes l SET lease_owner = NULL, next_attempt_at = coalesce(head.next_attempt_at, :now)
     FROM unnest(:channels::uuid[], :subjects::text[]) AS x (channel_id, subject), LATERAL (
       SELECT next_attempt_at FROM deliveries
       WHERE channel_id = x.channel_id AND subject = x.subject AND status = 'pending' ORDER BY seq LIMIT 1
     ) head
     WHERE l.channel_id = x.channel_id AND l.subject = x.subject`,
    bindings,
  )
  await execute(
    tx,
    `DELETE FROM delivery_lanes l USING unnest(:channels::uuid[], :subjects::text[]) AS x (channel_id, subject)
     WHERE l.channel_id = x.channel_id AND l.subject = x.subject AND NOT EXISTS (
       SELECT FROM deliveries d WHERE d.channel_id = x.channel_id AND d.subject = x.subject AND d.status = 'pending')`,
    bindings,
  )
}

/** What pends in lanes of channels that were paused meanwhile, found by the claim (decisions 6.4). */
export async function skipPausedLanes(tx: Tx, lanes: Lane[], now: Date): Promise<void> {
  if (lanes.length === 0) return
  await execute(
    tx,
    `UPDATE deliveries d SET status = 'skipped', next_attempt_at = NULL, updated_at = :now
     FROM unnest(:channels::uuid[], :subjects::text[]) AS l (channel_id, subject)
     JOIN alert_channels c ON c.id = l.channel_id AND c.is_paused
     WHERE d.channel_id = l.channel_id AND d.subject = l.subject AND d.status = 'pending'`,
    { ...columnsOf(lanes), now },
  )
}

function columnsOf(lanes: Lane[]) {
  return { channels: lanes.map(lane => lane.channelId), subjects: lanes.map(lane => lane.subject) }
}

const LOG_COLUMNS = `id, channel_id AS "channelId", event_name AS "eventName", status, attempts, request_url AS "requestUrl",
  request_headers AS "requestHeaders", request_body AS "requestBody", created_at AS "createdAt", updated_at AS "updatedAt"`

export type LogFilter = { channelId: string | null; events: string[] | null; statuses: string[] | null }

/** A page of the project's alert log, newest first, and how many entries there are. */
export async function listDeliveries(
  db: Db,
  projectId: string,
  filter: LogFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: DeliveryRow[]; total: number }> {
  const where = `project_id = :projectId AND (:channelId::uuid IS NULL OR channel_id = :channelId)
    AND (:events::text[] IS NULL OR event_name = ANY(:events)) AND (:statuses::text[] IS NULL OR status = ANY(:statuses))`
  const bindings = { projectId, ...filter, ...page }
  const [counted] = await query<{ total: number }>(
    db,
    `SELECT count(*) AS total FROM deliveries WHERE ${where}`,
    bindings,
  )
  const rows = await query<DeliveryRow>(
    db,
    `SELECT ${LOG_COLUMNS} FROM deliveries WHERE ${where} ORDER BY seq DESC LIMIT :limit OFFSET :offset`,
    bindings,
  )
  return { rows, total: counted?.total ?? 0 }
}

export async function findDelivery(db: Db, projectId: string, id: string): Promise<DeliveryRow | null> {
  const sql = `SELECT ${LOG_COLUMNS} FROM deliveries WHERE project_id = ? AND id = ?`
  const [row] = await query<DeliveryRow>(db, sql, [projectId, id])
  return row ?? null
}

/** True when the project has this channel. `id` has to be a valid id. */
export async function hasChannel(db: Db, projectId: string, id: string): Promise<boolean> {
  const sql = 'SELECT id FROM alert_channels WHERE project_id = ? AND id = ?'
  return (await query(db, sql, [projectId, id])).length === 1
}
