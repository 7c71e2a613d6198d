import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { hasRowsJoined } from '../../../foundation/platform/postgres/joined-reads.ts'
import {
  buildClaimableSql,
  claimUsedRows,
  type LeaseRequest,
  lockHeldRows,
  updateHeldRow,
} from '../../../foundation/platform/postgres/lease.ts'
import { computeFeedKey, type VendorFeed } from '../feeds/index.ts'
import type { FeedReport } from '../feeds/report.ts'

/** A row of `vendor_feeds`. */
export type StoredFeed = VendorFeed & {
  id: string
  /** number of claims; an older claim can no longer write */
  claims: number
  etag: string | null
  lastModified: string | null
  /** the last report; null: never read */
  report: FeedReport | null
  digest: string | null
  /** false: an incident is missing from it and not closed yet */
  isSettled: boolean
  /** consecutive failed reads */
  failures: number
}

const COLUMNS = `
  id, url, type, mapping, claims, etag, last_modified AS "lastModified", report, digest, is_settled AS "isSettled",
  failures`

const IS_USED = 'EXISTS (SELECT FROM dependencies d WHERE d.feed_id = t.id)'
const FEEDS = {
  table: 'vendor_feeds',
  key: 'id',
  dueAt: 'next_fetch_at',
  changes: 'claims = claims + 1',
  holder: 'claims',
}

/**
 * Finds and locks the row of a feed, or creates it as due now. The lock prevents its deletion before the dependency is
 * stored.
 */
export async function lockOrCreateFeed(tx: Tx, id: string, feed: VendorFeed, now: Date): Promise<StoredFeed> {
  const [row] = await query<StoredFeed>(
    tx,
    `INSERT INTO vendor_feeds (id, key, url, type, mapping, next_fetch_at)
     VALUES (:id, :key, :url, :type, :mapping, :now)
     ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING ${COLUMNS}`,
    { id, key: computeFeedKey(feed), url: feed.url, type: feed.type, mapping: JSON.stringify(feed.mapping), now },
  )
  return row!
}

/** Claims due feeds. Deletes due feeds without a dependency. */
export async function claimDueFeeds(db: Db, request: LeaseRequest & { now: Date }): Promise<StoredFeed[]> {
  if (!(await hasRowsJoined(db, `SELECT ${buildClaimableSql(FEEDS)}`, { now: request.now }))) return []
  return claimUsedRows<StoredFeed>(db, FEEDS, COLUMNS, IS_USED, request)
}

/** Locks a feed. Returns false when another process has claimed it meanwhile. */
export async function lockFeedClaim(tx: Tx, { id, claims }: StoredFeed): Promise<boolean> {
  return (await lockHeldRows(tx, FEEDS, 'id', { keys: [id], holder: claims })).length === 1
}

/**
 * Returns the key under which large documents of a feed wait for a turn: the project that tracks it as an address of its own, or
 * the feed itself when it is in the catalog.
 */
export async function findTurnKey(db: Db, feedId: string): Promise<string> {
  const [row] = await query<{ projectId: string }>(
    db,
    `SELECT project_id AS "projectId" FROM dependencies d WHERE feed_id = :feedId AND NOT EXISTS
       (SELECT FROM dependencies c WHERE c.feed_id = :feedId AND c.slug IS NOT NULL) ORDER BY id LIMIT 1`,
    { feedId },
  )
  return row?.projectId ?? feedId
}

/** The result of reading a feed, and when to read it next. */
export type FeedRead = {
  report: FeedReport
  digest: string
  etag: string | null
  lastModified: string | null
  readAt: Date
  nextFetchAt: Date
}

/**
 * Stores the result of a read and ends the claim, unless another process has claimed the feed meanwhile. An unchanged
 * report is not written again. The feed stays unsettled when a change of a dependency made it so after the claim.
 */
export async function storeRead(
  db: Db,
  { id, claims, digest, isSettled: wasSettled }: StoredFeed,
  { report, ...read }: FeedRead & { isSettled: boolean },
): Promise<void> {
  const changed = read.digest === digest ? null : JSON.stringify(report)
  await updateHeldRow(
    db,
    FEEDS,
    { key: id, holder: claims },
    `report = coalesce(:changed, report), digest = :digest, is_settled = :isSettled AND is_settled = :wasSettled,
     etag = :etag,
     last_modified = :lastModified, read_at = :readAt, next_fetch_at = :nextFetchAt, failures = 0, last_error = NULL`,
    { changed, wasSettled, ...read },
  )
}

/** Has the report of a feed applied again at each read, also an unchanged one, until no incident waits to be closed. */
export async function markUnsettled(tx: Tx, id: string): Promise<void> {
  await execute(tx, 'UPDATE vendor_feeds SET is_settled = false WHERE id = ?', [id])
}

/** Stores a failed read and ends the claim. The last report stays. */
export async function storeFailure(
  db: Db,
  { id, claims }: StoredFeed,
  failure: { error: string; failures: number; nextFetchAt: Date },
): Promise<void> {
  const changes = 'failures = :failures, last_error = :error, next_fetch_at = :nextFetchAt'
  await updateHeldRow(db, FEEDS, { key: id, holder: claims }, changes, failure)
}
