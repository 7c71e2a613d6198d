import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { LOCK_KEYS } from '../../../foundation/platform/postgres/lock-keys.ts'
import { CLOCK_TOLERANCE_MS } from '../../../foundation/platform/time/clock.ts'
import { CHANNEL_TYPES, getChannelKind } from '../../channels/registry.ts'
import type { NewDelivery } from '../../deliveries/types.ts'
import { DIGESTIBLE_EVENTS, toDigestSubject } from '../../events/digest.ts'
import { type ChannelShare, DEFAULT_DIGEST_SETTINGS, type GroupableChannel, STORM_WINDOW_MS } from './grouping.ts'

const GROUPABLE_TYPES = CHANNEL_TYPES.filter(type => getChannelKind(type).renderDigest !== null)

/** Locks the channels that support digests against deletion, and returns them. When digests are off, the threshold is infinite. */
export async function lockGroupableChannels(tx: Tx, channelIds: string[]): Promise<GroupableChannel[]> {
  const rows = await lockChannelRows(tx, channelIds, '')
  return rows.flatMap(row => row.groupable ?? [])
}

/** `groupable` null: the channel does not support digests. `isWaiting`: events of its project wait for the fan-out. */
type LockedChannel = {
  channelId: string
  projectId: string
  isWaiting: boolean
  groupable: GroupableChannel | null
}

/**
 * Locks against deletion those of the channels that no other transaction is changing. Their events are grouped in the
 * same transaction, so no lease is needed.
 */
export const tryLockChannels = (tx: Tx, channelIds: string[]): Promise<LockedChannel[]> =>
  lockChannelRows(tx, channelIds, 'SKIP LOCKED')

async function lockChannelRows(tx: Tx, channelIds: string[], wait: '' | 'SKIP LOCKED'): Promise<LockedChannel[]> {
  if (channelIds.length === 0) return []
  const rows = await query<Omit<LockedChannel, 'groupable'> & { isGroupable: boolean; threshold: number | null }>(
    tx,
    `SELECT c.id AS "channelId", c.project_id AS "projectId", c.type = ANY (:types::text[]) AS "isGroupable",
       EXISTS (SELECT FROM fan_outs f WHERE f.project_id = c.project_id) AS "isWaiting",
       CASE WHEN coalesce(s.is_digest_enabled, :isDigestEnabled)
         THEN coalesce(s.digest_threshold, :digestThreshold) END AS threshold
     FROM alert_channels c LEFT JOIN alert_settings s ON s.project_id = c.project_id
     WHERE c.id = ANY (:channelIds::uuid[]) ORDER BY c.id FOR KEY SHARE OF c ${wait}`,
    { channelIds, types: GROUPABLE_TYPES, ...DEFAULT_DIGEST_SETTINGS },
  )
  return rows.map(({ isGroupable, threshold, ...row }) => {
    const { channelId, projectId } = row
    const groupable = { channelId, projectId, threshold: threshold ?? Number.POSITIVE_INFINITY }
    return { ...row, groupable: isGroupable ? groupable : null }
  })
}

/**
 * Lets one transaction at a time group a project's changes or close its digests, so that counts are consistent and nothing
 * is added to a digest that is being closed. The lock is held until the end. In the lock order it comes after channels and
 * before lanes.
 */
export async function lockGrouping(tx: Tx, projectIds: string[]): Promise<void> {
  if (projectIds.length === 0) return
  await query(
    tx,
    `SELECT pg_advisory_xact_lock(${LOCK_KEYS.digests}, key)
     FROM (SELECT DISTINCT hashtext(id::text) AS key FROM unnest(?::uuid[]) AS id ORDER BY key) AS keys`,
    [projectIds],
  )
}

/** Takes the same lock for the projects for which no other transaction has it. Returns these projects. */
export async function tryLockGrouping(tx: Tx, projectIds: string[]): Promise<Set<string>> {
  if (projectIds.length === 0) return new Set()
  const rows = await query<{ id: string }>(
    tx,
    `SELECT id FROM unnest(?::uuid[]) AS project (id)
     WHERE pg_try_advisory_xact_lock(${LOCK_KEYS.digests}, hashtext(id::text))`,
    [projectIds],
  )
  return new Set(rows.map(row => row.id))
}

/** The monitor of each incident that the system opened and that is still automatic. */
export async function loadIncidentMonitors(tx: Tx, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: string; monitorId: string }>(
    tx,
    `SELECT id, cause_monitor_id AS "monitorId" FROM incidents
     WHERE id = ANY (?::uuid[]) AND source = 'automatic' AND cause_monitor_id IS NOT NULL`,
    [ids],
  )
  return new Map(rows.map(row => [row.id, row.monitorId]))
}

/** How many monitors, other than those of the share, each channel was notified of in the last minute. */
export async function countNotifiedMonitors(tx: Tx, shares: ChannelShare[], now: Date): Promise<Map<string, number>> {
  if (shares.length === 0) return new Map()
  const rows = await query<{ channelId: string; count: number }>(tx, NOTIFIED_MONITORS_SQL, {
    mine: JSON.stringify(shares.flatMap(({ channelId, monitorIds }) => monitorIds.map(id => ({ channelId, id })))),
    all: shares.map(share => share.channelId),
    // at most as many monitors as the threshold are sent singly; some of them may change several times
    limits: shares.map(share => (Number.isFinite(share.threshold) ? 200 + 4 * share.threshold : 0)),
    changes: DIGESTIBLE_EVENTS,
    since: new Date(now.getTime() - STORM_WINDOW_MS),
    latest: new Date(now.getTime() + CLOCK_TOLERANCE_MS),
  })
  return new Map(rows.map(row => [row.channelId, row.count]))
}

const NOTIFIED_MONITORS_SQL = `
  SELECT c.channel_id AS "channelId", count(DISTINCT monitor.id) AS count
  FROM unnest(:all::uuid[], :limits::integer[]) AS c (channel_id, most), LATERAL (
    SELECT subject FROM (
      SELECT subject, event_name, created_at FROM deliveries WHERE channel_id = c.channel_id ORDER BY seq DESC LIMIT c.most
    ) AS single WHERE created_at > :since AND created_at <= :latest AND event_name = ANY (:changes::text[])
      AND subject ~ '^(monitor|incident):'
    UNION ALL
    SELECT entry.subject FROM (
      SELECT id FROM digests WHERE channel_id = c.channel_id AND (closed_at IS NULL OR closed_at <= :latest) ORDER BY closed_at DESC LIMIT 3
    ) AS digest, LATERAL (
      SELECT subject, told_at FROM digest_entries WHERE digest_id = digest.id ORDER BY seq DESC LIMIT c.most
    ) AS entry WHERE entry.told_at > :since AND entry.told_at <= :latest
  ) AS recent, LATERAL (
    SELECT CASE WHEN recent.subject LIKE 'monitor:%' THEN replace(recent.subject, 'monitor:', '')::uuid
      ELSE (SELECT cause_monitor_id FROM incidents
            WHERE id = replace(recent.subject, 'incident:', '')::uuid AND source = 'automatic') END AS id
  ) AS monitor
  WHERE NOT EXISTS (
    SELECT FROM jsonb_to_recordset(:mine::jsonb) AS mine ("channelId" uuid, id uuid)
    WHERE mine."channelId" = c.channel_id AND mine.id = monitor.id)
  GROUP BY c.channel_id`

/** By channel, the subjects of the shares with pending deliveries outside of digests. */
export async function listSubjectsQueuedSingly(tx: Tx, shares: ChannelShare[]): Promise<Map<string, Set<string>>> {
  if (shares.length === 0) return new Map()
  const sql = `
    SELECT channel_id AS "channelId", subject
    FROM unnest(:channels::uuid[], :subjects::text[]) AS mine (channel_id, subject)
    WHERE EXISTS (
      SELECT FROM deliveries d WHERE d.channel_id = mine.channel_id AND d.subject = mine.subject
        AND d.status = 'pending' AND NOT d.is_replay)`
  return byChannel(await query<WaitingEntry>(tx, sql, toPairColumns(shares)))
}

/** By channel, the subjects of the shares that wait in a digest or behind one. */
export async function listSubjectsInDigests(tx: Tx, shares: ChannelShare[]): Promise<Map<string, Set<string>>> {
  if (shares.length === 0) return new Map()
  // closed digests are found by their pending deliveries, because many more are kept for the log
  const sql = `
    WITH waiting AS MATERIALIZED (
      SELECT id, channel_id FROM digests WHERE channel_id = ANY (:all::uuid[]) AND closed_at IS NULL
      UNION
      SELECT g.id, d.channel_id FROM unnest(:all::uuid[], :lanes::text[]) AS share (channel_id, lane)
      JOIN deliveries d ON d.channel_id = share.channel_id AND d.subject = share.lane
        AND d.status = 'pending' AND d.relay_origin IS NULL AND NOT d.is_replay
      JOIN digests g ON g.delivery_id = d.id
    )
    SELECT mine.channel_id AS "channelId", mine.subject
    FROM unnest(:channels::uuid[], :subjects::text[]) AS mine (channel_id, subject)
    WHERE EXISTS (
      SELECT FROM waiting JOIN digest_entries entry ON entry.digest_id = waiting.id AND entry.subject = mine.subject
      WHERE waiting.channel_id = mine.channel_id)`
  const all = shares.map(share => share.channelId)
  const lanes = shares.map(share => toDigestSubject(share.projectId))
  return byChannel(await query<WaitingEntry>(tx, sql, { ...toPairColumns(shares), all, lanes }))
}

function toPairColumns(shares: ChannelShare[]) {
  const pairs = shares.flatMap(({ channelId, subjects }) => subjects.map(subject => ({ channelId, subject })))
  return { channels: pairs.map(pair => pair.channelId), subjects: pairs.map(pair => pair.subject) }
}

type WaitingEntry = { channelId: string; subject: string }

function byChannel(rows: WaitingEntry[]): Map<string, Set<string>> {
  const grouped = new Map<string, Set<string>>()
  for (const { channelId, subject } of rows) {
    const subjects = grouped.get(channelId) ?? new Set()
    grouped.set(channelId, subjects.add(subject))
  }
  return grouped
}

/** The open digest of each channel, if any, and when its last one was closed. The caller holds the grouping lock. */
export function loadDigestStates(tx: Tx, channelIds: string[]) {
  return query<{ channelId: string; openId: string | null; lastClosedAt: Date | null }>(
    tx,
    `SELECT c.id AS "channelId",
       (SELECT id FROM digests WHERE channel_id = c.id AND closed_at IS NULL) AS "openId",
       (SELECT max(closed_at) FROM digests WHERE channel_id = c.id) AS "lastClosedAt"
     FROM unnest(?::uuid[]) AS c (id)`,
    [channelIds],
  )
}

type NewDigest = { id: string; projectId: string; channelId: string; dueAt: Date }

export async function insertDigests(tx: Tx, digests: NewDigest[]): Promise<void> {
  if (digests.length === 0) return
  await execute(
    tx,
    `WITH opened AS (
       INSERT INTO digests (id, project_id, channel_id, due_at)
       SELECT id, "projectId", "channelId", "dueAt"
       FROM jsonb_to_recordset(?::jsonb) AS row (id uuid, "projectId" uuid, "channelId" uuid, "dueAt" timestamptz)
     )
     SELECT pg_notify('digests', '')`,
    [JSON.stringify(digests)],
  )
}

type NewDigestEntry = Pick<NewDelivery, 'eventId' | 'subject' | 'reminder'> & { digestId: string }

/** Adds entries to digests, in their order. */
export async function insertDigestEntries(tx: Tx, entries: NewDigestEntry[], now: Date): Promise<void> {
  await execute(
    tx,
    `INSERT INTO digest_entries (digest_id, event_id, subject, reminder, told_at)
     SELECT "digestId", "eventId", subject, reminder, :now
     FROM jsonb_to_recordset(:entries::jsonb)
       AS row (place integer, "digestId" uuid, "eventId" uuid, subject text, reminder integer)
     ORDER BY place`,
    { entries: JSON.stringify(entries.map((entry, place) => ({ ...entry, place }))), now },
  )
}
