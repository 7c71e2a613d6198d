import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { EventData, EventName } from '../../events/catalog.ts'
import type { DIGEST_EVENT, DigestData } from '../../events/digest.ts'
import type { PAGE_CONFIRMATION, PAGE_NOTICE, PageConfirmationData, PageNoticeData } from '../../events/page-event.ts'
import type { LoggedAttempt } from '../types.ts'
import type { ClaimedLane } from './claim-store.ts'
import type { Lane } from './lanes.ts'

type DeliveryEvent =
  | { eventName: EventName; eventData: EventData<EventName> }
  | { eventName: typeof DIGEST_EVENT; eventData: DigestData }
  | { eventName: typeof PAGE_NOTICE; eventData: PageNoticeData }
  | { eventName: typeof PAGE_CONFIRMATION; eventData: PageConfirmationData }

/** The oldest delivery of a lane, with everything that rendering, signing and sending need. */
export type QueuedDelivery = DeliveryEvent &
  Lane & {
    id: string
    projectId: string
    isReplay: boolean
    /** number of the reminder; null when the event is not a reminder */
    reminder: number | null
    attemptsMade: number
    /** see DeliveryProgress */
    uncountedAttempts: number
    /** an attempt was made or deferred since it was queued or replayed */
    isDeferred: boolean
    createdAt: Date
    body: Buffer | null
    eventId: string
    /** the event has many deliveries (pace-actions.ts) */
    isCrowd: boolean
    /** address of an earlier attempt, as the log shows it */
    requestUrl: string | null
    /** the same, encrypted; a process of the previous version writes `requestUrl` */
    requestAddress: Buffer | null
    channelType: string
    /** the page's subscriber, to whom config and secret then belong; null: they are the channel's */
    subscriberId: string | null
    /** components that the subscriber selected; null: all */
    componentIds: string[] | null
    config: Buffer
    signingSecret: Buffer | null
    /** the chat installation that sends the channel's messages; null: none */
    chat: ChatInstallationRef | null
  }

/** An installation of the app in a chat. `tokens` are encrypted, in hexadecimal digits. */
export type ChatInstallationRef = { id: string; tokens: string; isRevoked: boolean }

/**
 * Columns of the tables `deliveries d`, `events e`, `alert_channels c` and those of QUEUED_DELIVERY_JOINS.
 * `attempts_before_replay` also counts attempts that failed by a fault of Picket.
 */
export const QUEUED_DELIVERY_COLUMNS = `d.channel_id AS "channelId", d.subject, d.id, d.project_id AS "projectId",
  d.event_name AS "eventName", e.data AS "eventData", d.is_replay AS "isReplay", d.reminder,
  jsonb_array_length(d.attempts) + d.attempts_left_out - d.attempts_before_replay AS "attemptsMade",
  d.attempts_before_replay AS "uncountedAttempts", d.next_attempt_at IS NOT NULL AS "isDeferred",
  d.created_at AS "createdAt", d.request_body AS body, d.request_url AS "requestUrl", d.request_address AS "requestAddress", d.event_id AS "eventId", d.is_crowd AS "isCrowd", c.type AS "channelType", d.subscriber_id AS "subscriberId",
  s.component_ids AS "componentIds", coalesce(s.config, c.config) AS config,
  coalesce(s.signing_secret, c.signing_secret) AS "signingSecret",
  CASE WHEN i.id IS NOT NULL THEN jsonb_build_object(
    'id', i.id, 'tokens', encode(i.tokens, 'hex'), 'isRevoked', i.revoked_at IS NOT NULL) END AS chat`
export const QUEUED_DELIVERY_JOINS = `LEFT JOIN page_subscribers s ON s.id = d.subscriber_id
  LEFT JOIN chat_installations i ON i.id = c.chat_installation_id`

/** `sendableAt`: for a first attempt that did not wait for its receiver; else null. */
type LaneHead = QueuedDelivery & { sendableAt: Date | null }

/**
 * SQL: since when a delivery that was never attempted could have been sent. It waits for earlier deliveries of its lane, and
 * for its turn among the requests of its event; a replay was requested later. Mails count from their event: the mail
 * server is the operator's. So do deliveries of a process that died, and those whose channel could not be decrypted.
 */
const SENDABLE_AT_SQL = `CASE
  WHEN d.is_replay OR l.has_waited OR jsonb_array_length(d.attempts) + d.attempts_left_out > 0 THEN NULL
  WHEN c.type IN ('email', 'page_mail') OR (d.next_attempt_at IS NOT NULL AND NOT d.is_crowd) THEN d.created_at
  ELSE greatest(d.created_at, l.claimable_at) END`

/** The oldest pending delivery of each lane. Lanes without one, and lanes of paused channels, are left out. */
export function loadLaneHeads(tx: Tx, lanes: ClaimedLane[]): Promise<LaneHead[]> {
  return query<LaneHead>(
    tx,
    `SELECT ${QUEUED_DELIVERY_COLUMNS}, ${SENDABLE_AT_SQL} AS "sendableAt"
     FROM unnest(:channels::uuid[], :subjects::text[], :claimable::timestamptz[], :waited::boolean[])
       AS l (channel_id, subject, claimable_at, has_waited)
     JOIN alert_channels c ON c.id = l.channel_id AND NOT c.is_paused
     JOIN LATERAL (
       SELECT * FROM deliveries
       WHERE channel_id = l.channel_id AND subject = l.subject AND status = 'pending' AND relay_origin IS NULL
       ORDER BY seq LIMIT 1
     ) d ON true
     ${QUEUED_DELIVERY_JOINS}
     JOIN events e ON e.id = d.event_id`,
    {
      ...toLaneColumns(lanes),
      claimable: lanes.map(lane => lane.claimableAt?.toISOString() ?? '-infinity'),
      waited: lanes.map(lane => lane.hasWaitedForPlace),
    },
  )
}

/** A delivery as the claim rendered it. A later attempt keeps the body; the address may change. */
type RenderedRequest = {
  id: string
  message: { body: Buffer }
  shown: { headers: Record<string, string> }
  /** encrypted */
  address: Buffer
}

export async function storeRendered(tx: Tx, rendered: RenderedRequest[], now: Date): Promise<void> {
  if (rendered.length === 0) return
  await execute(
    tx,
    `UPDATE deliveries d SET request_url = NULL, request_address = r.address, request_headers = r.headers::jsonb,
       request_body = r.body, updated_at = :now
     FROM unnest(:ids::text[], :addresses::bytea[], :headers::text[], :bodies::bytea[]) AS r (id, address, headers, body)
     WHERE d.id = r.id`,
    {
      ids: rendered.map(row => row.id),
      addresses: rendered.map(row => row.address),
      headers: rendered.map(row => JSON.stringify(row.shown.headers)),
      bodies: rendered.map(row => row.message.body),
      now,
    },
  )
}

/** Keeps channels from being deleted until the transaction ends. Their failures can still be counted. */
export async function lockChannels(tx: Tx, rows: { channelId: string }[]): Promise<void> {
  await query(tx, 'SELECT FROM alert_channels WHERE id = ANY (?::uuid[]) ORDER BY id FOR KEY SHARE', [
    [...new Set(rows.map(row => row.channelId))],
  ])
}

/** Locks the lanes that `owner` still holds, in the common order: channels, then lanes. */
export async function lockLeasedLanes(tx: Tx, owner: string, lanes: Lane[]): Promise<Lane[]> {
  await lockChannels(tx, lanes)
  return query<Lane>(
    tx,
    `SELECT channel_id AS "channelId", subject FROM delivery_lanes
     WHERE lease_owner = :owner
       AND (channel_id, subject) IN (SELECT * FROM unnest(:channels::uuid[], :subjects::text[]))
     ORDER BY channel_id, subject FOR UPDATE`,
    { ...toLaneColumns(lanes), owner },
  )
}

/** `isUncounted`: it is not one of the three attempts, because it failed by a fault of Picket. */
export type AttemptRecord = {
  id: string
  attempt: LoggedAttempt
  status: string
  retryAt: Date | null
  isUncounted?: boolean
}

/** The log keeps the first three and the last ten attempts of a delivery. */
const MAX_FIRST_ATTEMPTS = 3
const MAX_LOGGED_ATTEMPTS = 13

/**
 * Adds an attempt to the log of each delivery, and removes one from the middle when the log is full. A delivery that another
 * transaction has ended is not changed.
 */
export async function recordAttempts(tx: Tx, recorded: AttemptRecord[], now: Date): Promise<void> {
  if (recorded.length === 0) return
  await execute(
    tx,
    `UPDATE deliveries d SET status = r.status, next_attempt_at = r.retry_at, updated_at = :now,
       attempts = CASE WHEN jsonb_array_length(d.attempts) < :kept THEN d.attempts ELSE d.attempts - :firstKept::integer END
         || r.attempt,
       attempts_left_out = attempts_left_out + (jsonb_array_length(d.attempts) >= :kept)::integer,
       attempts_before_replay = attempts_before_replay + r.uncounted
     FROM jsonb_to_recordset(:rows::jsonb)
       AS r (id text, attempt jsonb, status text, retry_at timestamptz, uncounted integer)
     WHERE d.id = r.id AND d.status = 'pending'`,
    {
      rows: JSON.stringify(
        recorded.map(({ id, attempt, status, retryAt, isUncounted = false }) => ({
          ...{ id, attempt, status, retry_at: retryAt },
          uncounted: Number(isUncounted),
        })),
      ),
      kept: MAX_LOGGED_ATTEMPTS,
      firstKept: MAX_FIRST_ATTEMPTS,
      now,
    },
  )
}

/**
 * Releases lanes: a lane is due when its next delivery is, and is deleted when nothing is pending. The lanes are locked,
 * so a delivery that is being added is either visible here or creates its lane again.
 */
export async function releaseLanes(tx: Tx, lanes: Lane[], now: Date): Promise<void> {
  if (lanes.length === 0) return
  await execute(
    tx,
    `WITH lane AS MATERIALIZED (
       SELECT x.channel_id, x.subject, head.id, head.next_attempt_at
       FROM unnest(:channels::uuid[], :subjects::text[]) AS x (channel_id, subject) LEFT JOIN LATERAL (
         SELECT id, next_attempt_at FROM deliveries
         WHERE channel_id = x.channel_id AND subject = x.subject AND status = 'pending' AND relay_origin IS NULL
         ORDER BY seq LIMIT 1
       ) head ON true
     ), emptied AS (
       DELETE FROM delivery_lanes l USING lane
       WHERE l.channel_id = lane.channel_id AND l.subject = lane.subject AND lane.id IS NULL
     )
     UPDATE delivery_lanes l SET lease_owner = NULL, next_attempt_at = coalesce(lane.next_attempt_at, :now)
     FROM lane WHERE l.channel_id = lane.channel_id AND l.subject = lane.subject AND lane.id IS NOT NULL`,
    { ...toLaneColumns(lanes), now },
  )
}

/** Skips what is pending in lanes of channels that were paused before the claim (docs/design/deliveries.md#auto-pause). */
export async function skipPausedLanes(tx: Tx, lanes: Lane[], now: Date): Promise<void> {
  if (lanes.length === 0) return
  await execute(
    tx,
    `UPDATE deliveries d SET status = 'skipped', next_attempt_at = NULL, updated_at = :now
     FROM unnest(:channels::uuid[], :subjects::text[]) AS l (channel_id, subject)
     JOIN alert_channels c ON c.id = l.channel_id AND c.is_paused
     WHERE d.channel_id = l.channel_id AND d.subject = l.subject AND d.status = 'pending' AND d.relay_origin IS NULL`,
    { ...toLaneColumns(lanes), now },
  )
}

function toLaneColumns(lanes: Lane[]) {
  return { channels: lanes.map(lane => lane.channelId), subjects: lanes.map(lane => lane.subject) }
}
