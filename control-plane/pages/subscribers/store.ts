import { PAGE_CONFIRMATION } from '../../alerting/events/page-event.ts'
import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { CLOCK_TOLERANCE_MS } from '../../foundation/platform/time/clock.ts'
import type { StoredSubscriber, SubscriptionKind } from './types.ts'

const COLUMNS = `
  id, project_id AS "projectId", page_id AS "pageId", channel_id AS "channelId", kind, address_hash AS "addressHash",
  config, signing_secret AS "signingSecret", component_ids AS "componentIds", asked_at AS "askedAt",
  confirmed_at AS "confirmedAt", consecutive_failures AS "consecutiveFailures", paused_at AS "pausedAt",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/** One page of a status page's confirmed subscribers, newest first, and their number by kind. */
export async function listSubscribers(
  db: Db,
  pageId: string,
  page: { limit: number; offset: number },
): Promise<{ subscribers: StoredSubscriber[]; counts: { email: number; webhook: number } }> {
  const subscribers = await query<StoredSubscriber>(
    db,
    `SELECT ${COLUMNS} FROM page_subscribers WHERE page_id = :pageId AND confirmed_at IS NOT NULL
     ORDER BY id DESC LIMIT :limit OFFSET :offset`,
    { pageId, ...page },
  )
  const [counts] = await query<{ email: number; webhook: number }>(
    db,
    `SELECT count(*) FILTER (WHERE kind = 'email') AS email, count(*) FILTER (WHERE kind = 'webhook') AS webhook
     FROM page_subscribers WHERE page_id = ? AND confirmed_at IS NOT NULL`,
    [pageId],
  )
  return { subscribers, counts: counts! }
}

/** The project of a page; null unless the page is published. It stays published until the transaction ends. */
export async function findPublishedProjectId(tx: Tx, pageId: string): Promise<string | null> {
  const sql = 'SELECT project_id AS "projectId" FROM status_pages WHERE id = ? AND is_published FOR SHARE'
  return (await query<{ projectId: string }>(tx, sql, [pageId]))[0]?.projectId ?? null
}

/** A subscriber by id, confirmed or not. `pageId` null: of any page. `id` must be a valid id. */
export async function findSubscriber(db: Db, pageId: string | null, id: string): Promise<StoredSubscriber | null> {
  const sql = `SELECT ${COLUMNS} FROM page_subscribers
    WHERE id = :id AND (CAST(:pageId AS uuid) IS NULL OR page_id = CAST(:pageId AS uuid))`
  return (await query<StoredSubscriber>(db, sql, { pageId, id }))[0] ?? null
}

/** The subscriber with an address on a page, locked until the transaction ends. */
export async function lockSubscriberByAddress(
  tx: Tx,
  pageId: string,
  addressHash: Buffer,
): Promise<StoredSubscriber | null> {
  const sql = `SELECT ${COLUMNS} FROM page_subscribers WHERE page_id = ? AND address_hash = ? FOR NO KEY UPDATE`
  return (await query<StoredSubscriber>(tx, sql, [pageId, addressHash]))[0] ?? null
}

/** Violates a unique constraint when a concurrent request was faster. */
export async function insertSubscriber(tx: Tx, subscriber: StoredSubscriber): Promise<void> {
  await execute(
    tx,
    `INSERT INTO page_subscribers (id, project_id, page_id, channel_id, kind, address_hash, config, signing_secret,
       component_ids, asked_at, created_at, updated_at)
     VALUES (:id, :projectId, :pageId, :channelId, :kind, :addressHash, :config, :signingSecret,
       CAST(:componentIds AS uuid[]), :askedAt, :createdAt, :updatedAt)`,
    subscriber,
  )
}

/** Merges two subscribers with the same address: the other row is deleted, and its confirmation is kept. */
export async function mergeDuplicateSubscriber(
  db: Db,
  { id, pageId, addressHash }: Pick<StoredSubscriber, 'id' | 'pageId' | 'addressHash'>,
): Promise<void> {
  await execute(
    db,
    `WITH rival AS (
       DELETE FROM page_subscribers WHERE page_id = :pageId AND address_hash = :addressHash AND id <> :id
       RETURNING confirmed_at
     )
     UPDATE page_subscribers SET confirmed_at = coalesce(page_subscribers.confirmed_at, rival.confirmed_at)
     FROM rival WHERE id = :id`,
    { id, pageId, addressHash },
  )
}

/** Stores the chosen components and the time of the last confirmation request. */
export async function saveConfirmationRequest(tx: Tx, subscriber: StoredSubscriber, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE page_subscribers SET component_ids = CAST(:componentIds AS uuid[]), asked_at = :askedAt, updated_at = :now
     WHERE id = :id`,
    { ...subscriber, now },
  )
}

/** Confirms a subscriber. A paused one is resumed. False when it was deleted meanwhile. */
export async function markConfirmed(db: Db, id: string, now: Date): Promise<boolean> {
  const changed = await execute(
    db,
    `UPDATE page_subscribers SET confirmed_at = coalesce(confirmed_at, :now), paused_at = NULL, consecutive_failures = 0,
       updated_at = :now WHERE id = :id`,
    { id, now },
  )
  return changed === 1
}

/**
 * Those of the chosen components that the page still has. They cannot be deleted until the transaction ends, so a deletion
 * finds them in the choice. Null: all components.
 */
export async function holdChosenComponents(
  tx: Tx,
  pageId: string,
  componentIds: string[] | null,
): Promise<string[] | null> {
  if (componentIds === null) return null
  const rows = await query<{ id: string }>(
    tx,
    `SELECT id FROM status_page_components WHERE page_id = :pageId AND id = ANY (CAST(:componentIds AS uuid[]))
     ORDER BY id FOR KEY SHARE`,
    { pageId, componentIds },
  )
  return rows.map(({ id }) => id)
}

export async function saveComponentChoice(db: Db, id: string, componentIds: string[] | null, now: Date): Promise<void> {
  await execute(
    db,
    'UPDATE page_subscribers SET component_ids = CAST(:componentIds AS uuid[]), updated_at = :now WHERE id = :id',
    { id, componentIds, now },
  )
}

/**
 * Deletes a subscriber with its deliveries and its own channel. False when the page has no such subscriber. `id` must
 * be a valid id.
 */
export async function removeSubscriber(db: Db, pageId: string, id: string): Promise<boolean> {
  const removed = await query(
    db,
    `WITH removed AS (
       DELETE FROM page_subscribers WHERE page_id = :pageId AND id = :id RETURNING channel_id, kind
     ), channels AS (
       DELETE FROM alert_channels c USING removed r WHERE c.id = r.channel_id AND r.kind = 'webhook'
     )
     SELECT FROM removed`,
    { pageId, id },
  )
  return removed.length === 1
}

/** Removes a deleted component from the choices of subscribers. A choice that has no component left becomes "all". */
export async function removeFromChoices(tx: Tx, pageId: string, componentId: string, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE page_subscribers SET updated_at = :now,
       component_ids = nullif(array_remove(component_ids, CAST(:componentId AS uuid)), '{}')
     WHERE page_id = :pageId AND component_ids @> ARRAY[CAST(:componentId AS uuid)]`,
    { pageId, componentId, now },
  )
}

/** The number of subscribers of a page by kind. */
export async function countSubscribers(
  db: Db,
  pageId: string,
  kind: SubscriptionKind,
): Promise<{ confirmed: number; unconfirmed: number }> {
  const [counted] = await query<{ confirmed: number; unconfirmed: number }>(
    db,
    `SELECT count(confirmed_at) AS confirmed, count(*) - count(confirmed_at) AS unconfirmed
     FROM page_subscribers WHERE page_id = ? AND kind = ?`,
    [pageId, kind],
  )
  return counted!
}

/**
 * The number of confirmations that were queued for an address on all pages since `since`. Later times than `now` are from
 * before the clock was set back.
 */
export async function countConfirmations(
  db: Db,
  addressHash: Buffer,
  { since, now }: { since: Date; now: Date },
): Promise<number> {
  const [counted] = await query<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM page_subscribers s JOIN deliveries d ON d.subscriber_id = s.id
     WHERE s.address_hash = :addressHash AND d.event_name = :eventName AND d.created_at > :since AND d.created_at <= :latest`,
    { addressHash, since, eventName: PAGE_CONFIRMATION, latest: new Date(now.getTime() + CLOCK_TOLERANCE_MS) },
  )
  return counted!.count
}

/** Deletes the addresses of a page that have waited longest for their confirmation. Others may lock some of them meanwhile. */
export async function removeOldestUnconfirmed(
  tx: Tx,
  pageId: string,
  kind: SubscriptionKind,
  limit: number,
): Promise<void> {
  await execute(
    tx,
    `WITH dropped AS (
       DELETE FROM page_subscribers WHERE id IN (
         SELECT id FROM page_subscribers WHERE page_id = :pageId AND kind = :kind AND confirmed_at IS NULL
         ORDER BY asked_at, id LIMIT :limit FOR UPDATE SKIP LOCKED)
       RETURNING channel_id, kind
     ), channels AS (
       DELETE FROM alert_channels c USING dropped d WHERE c.id = d.channel_id AND d.kind = 'webhook'
     )
     SELECT FROM dropped`,
    { pageId, kind, limit },
  )
}

/** The channel for the mail of a page; created for the first subscriber. */
export async function ensureMailChannel(
  tx: Tx,
  page: { id: string; projectId: string },
  newChannelId: string,
  now: Date,
): Promise<string> {
  await insertSubscriberChannel(tx, { id: newChannelId, page, type: 'page_mail', now })
  const sql = `SELECT id FROM alert_channels WHERE page_id = ? AND type = 'page_mail'`
  return (await query<{ id: string }>(tx, sql, [page.id]))[0]!.id
}

type NewChannel = { id: string; page: { id: string; projectId: string }; type: 'page_mail' | 'page_webhook'; now: Date }

/** The config is empty, because each subscriber has one of its own. A page has at most one channel for mail. */
export async function insertSubscriberChannel(tx: Tx, { id, page, type, now }: NewChannel): Promise<void> {
  await execute(
    tx,
    `INSERT INTO alert_channels (id, project_id, page_id, name, type, config, is_default, created_at, updated_at)
     VALUES (:id, :projectId, :pageId, 'Subscribers', :type, '', false, :now, :now)
     ON CONFLICT (page_id) WHERE type = 'page_mail' DO NOTHING`,
    { id, projectId: page.projectId, pageId: page.id, type, now },
  )
}
