import { groupBy } from '../../../../shared/group-by.ts'
import { query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'
import {
  computeFreeSlots,
  type Lane,
  MAX_CHANNEL_CONCURRENCY,
  MAX_CHANNEL_PREFETCH,
  MAX_CHANNELS_PER_ROUND,
  PROJECT_CHANNELS,
} from './lanes.ts'

export type ClaimRequest = {
  owner: string
  leaseMs: number
  limit: number
  /** how many of them may be mails */
  mailLimit: number
  /** whether leases that have ended are taken over (takeover.ts) */
  takesOver: boolean
  /** more may be claimed for these than are sent at the same time, unless another process sends to them */
  fastChannels: string[]
  /** how many deliveries `owner` holds of each project */
  held: ReadonlyMap<string, number>
  /** for projects with many due channels: the channel after which to continue */
  cursors: ReadonlyMap<string, string>
}

/**
 * Leases due lanes to `owner` (docs/design/deliveries.md#claims):
 * 1. Find the due channels, projects in turn. An advisory lock lets one process at a time claim from a channel, so that
 *    the limit of eight holds; channels that another process is claiming from are skipped.
 * 2. Count the free places of each channel. A fast channel that no other process sends to has more places.
 * 3. Take the oldest lanes: each project gets its first lane before any gets its second, and no more than its share of
 *    the places (lanes.ts). Within a project the same order applies to channels.
 * Returns at most `limit` lanes, `mailLimit` of them of mails, and where the next claim continues. The limits of channels and projects need statements
 * of their own instead of `claimRows`.
 */
export async function claimLanes(
  tx: Tx,
  { owner, leaseMs, limit, mailLimit, takesOver, fastChannels, held, cursors }: ClaimRequest,
  now: Date,
): Promise<{ lanes: ClaimedLane[]; cursors: Map<string, string> }> {
  const due = await query<DueChannel>(tx, dueChannels(cursors.size > 0), {
    now,
    cursors: JSON.stringify(Object.fromEntries(cursors)),
    ...PROJECT_CHANNELS,
    round: MAX_CHANNELS_PER_ROUND,
  })
  const claimable = due.filter(({ isMail }) => !isMail || mailLimit > 0)
  if (claimable.length === 0) return { lanes: [], cursors: buildCursors(due) }
  const all = [...held.values()].reduce((sum, mine) => sum + mine, 0)
  const projects = new Set(claimable.map(({ projectId }) => projectId))
  const lanes = await query<ClaimedLane>(tx, CLAIM, {
    channels: claimable.map(row => row.channelId),
    projects: claimable.map(row => row.projectId),
    mails: claimable.map(row => row.isMail),
    places: JSON.stringify(Object.fromEntries([...projects].map(id => [id, computeFreeSlots(held.get(id) ?? 0, all)]))),
    now,
    leaseEnd: new Date(now.getTime() + leaseMs),
    owner,
    limit,
    mailLimit,
    takesOver,
    fastChannels,
    concurrency: MAX_CHANNEL_CONCURRENCY,
    lookAhead: MAX_CHANNEL_PREFETCH,
  })
  return { lanes, cursors: buildCursors(due) }
}

/** A lane that a process has leased, as it was before. */
export type ClaimedLane = Lane & {
  /** since when it could be claimed; null: the process that had leased it did not release it */
  claimableAt: Date | null
  /** it may have waited for one of the places of its channel: the others were taken, and this claim took all that were free */
  hasWaitedForPlace: boolean
}

/** `isCut`: the project may have more due channels after this one. */
type DueChannel = { projectId: string; channelId: string; isMail: boolean; isCut: boolean }

function buildCursors(due: DueChannel[]): Map<string, string> {
  const last = [...groupBy(due, row => row.projectId).values()].map(rows => rows.at(-1)!)
  return new Map(last.filter(({ isCut }) => isCut).map(({ projectId, channelId }) => [projectId, channelId]))
}

// one step of the index a project
const PROJECTS = `
  WITH RECURSIVE projects AS (
    (SELECT project_id AS id FROM delivery_lanes ORDER BY project_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.project_id FROM delivery_lanes l WHERE l.project_id > p.id ORDER BY l.project_id LIMIT 1)
    FROM projects p WHERE p.id IS NOT NULL
  )`

/** SQL condition: some lane is due. */
export const HAS_DUE_LANES_SQL = `EXISTS (
  ${PROJECTS}
  SELECT FROM projects p
  WHERE EXISTS (SELECT FROM delivery_lanes l WHERE l.project_id = p.id AND l.next_attempt_at <= :now))`

/** The project's due channels in a range, one step of the index each. Reads no further than the query needs. */
const channelsIn = (range: string) => `(
  WITH RECURSIVE channels AS (
    (SELECT channel_id FROM delivery_lanes l WHERE l.project_id = p.id AND ${range} AND l.next_attempt_at <= :now
     ORDER BY l.channel_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.channel_id FROM delivery_lanes l
            WHERE l.project_id = p.id AND l.channel_id > c.channel_id AND ${range} AND l.next_attempt_at <= :now
            ORDER BY l.channel_id LIMIT 1)
    FROM channels c WHERE c.channel_id IS NOT NULL
  ) SELECT channel_id FROM channels WHERE channel_id IS NOT NULL)`

// Channels are locked before lanes, as in all other transactions; a channel that is being deleted is skipped. When more
// projects are due than a round reads, they are chosen at random, so that none is left out for ever. Most rounds have no
// cursors, and their statement is planned in half the time.
const dueChannels = (hasCursors: boolean) => `
  ${PROJECTS}, due AS MATERIALIZED (
    SELECT p.id AS project_id, channel.channel_id, channel.place, p.share
    FROM (
      SELECT id, coalesce((:cursors::jsonb ->> id::text)::uuid, '00000000-0000-0000-0000-000000000000') AS after,
        least(:most::integer, greatest(:least::integer, :together::integer / count(*) OVER ())) AS share
      FROM projects WHERE id IS NOT NULL
    ) p, LATERAL (
      SELECT channel_id, row_number() OVER () AS place FROM (
        ${hasCursors ? `${channelsIn('l.channel_id > p.after')} UNION ALL ${channelsIn('l.channel_id <= p.after')}` : channelsIn('true')}
        LIMIT p.share
      ) ring
    ) channel
  ), taken AS MATERIALIZED (
    SELECT *, count(*) OVER (PARTITION BY project_id) AS due FROM due ORDER BY place, random() LIMIT :round
  )
  SELECT d.project_id AS "projectId", d.channel_id AS "channelId", c.type IN ('email', 'page_mail') AS "isMail",
    d.due = d.share OR d.place < d.due AS "isCut"
  FROM taken d JOIN alert_channels c ON c.id = d.channel_id
  WHERE pg_try_advisory_xact_lock(${LOCK_KEYS.deliveryLanes}, hashtext(d.channel_id::text))
  ORDER BY d.place FOR KEY SHARE OF c SKIP LOCKED`

const CLAIM = `
  WITH room AS MATERIALIZED (
    SELECT channel_id, project_id, is_mail, held.count > 0 AS is_used, CASE
      WHEN held.by_others OR NOT channel_id = ANY (:fastChannels::uuid[]) THEN :concurrency::integer
      ELSE :lookAhead::integer END - held.count AS free
    FROM unnest(:channels::uuid[], :projects::uuid[], :mails::boolean[]) AS due (channel_id, project_id, is_mail), LATERAL (
      SELECT count(*) AS count, coalesce(bool_or(lease_owner <> :owner), false) AS by_others FROM delivery_lanes
      WHERE channel_id = due.channel_id AND lease_owner IS NOT NULL
        AND (next_attempt_at > :now OR NOT CAST(:takesOver AS boolean))
    ) held
  ), ranked AS MATERIALIZED (
    SELECT lane.*, room.is_mail, row_number() OVER (PARTITION BY lane.channel_id ORDER BY lane.next_attempt_at) AS rank,
      room.is_used AND count(*) OVER (PARTITION BY lane.channel_id) >= room.free AS has_waited
    FROM room, LATERAL (
      SELECT channel_id, subject, project_id, next_attempt_at, lease_owner FROM delivery_lanes
      WHERE project_id = room.project_id AND channel_id = room.channel_id AND next_attempt_at <= :now
        AND (lease_owner IS NULL OR CAST(:takesOver AS boolean))
      ORDER BY next_attempt_at LIMIT greatest(room.free, 0) FOR UPDATE SKIP LOCKED
    ) AS lane
  ), in_turn AS (
    SELECT *, row_number() OVER (PARTITION BY project_id ORDER BY rank, next_attempt_at) AS turn FROM ranked
  ), counted AS (
    SELECT *, count(*) FILTER (WHERE is_mail) OVER (ORDER BY turn, rank, next_attempt_at ROWS UNBOUNDED PRECEDING) AS mails
    FROM in_turn WHERE turn <= (:places::jsonb ->> project_id::text)::integer
  ), picked AS (
    SELECT channel_id, subject, next_attempt_at, lease_owner, has_waited FROM counted WHERE NOT is_mail OR mails <= :mailLimit
    ORDER BY turn, rank, next_attempt_at LIMIT :limit
  )
  UPDATE delivery_lanes l SET lease_owner = :owner, next_attempt_at = :leaseEnd
  FROM picked WHERE l.channel_id = picked.channel_id AND l.subject = picked.subject
  RETURNING l.channel_id AS "channelId", l.subject, picked.has_waited AS "hasWaitedForPlace",
    CASE WHEN picked.lease_owner IS NULL THEN picked.next_attempt_at END AS "claimableAt"`
