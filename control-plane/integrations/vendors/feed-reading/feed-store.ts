import { type Db, execute, hasRows, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { computeFeedKey, type VendorFeed } from '../feeds/index.ts'
import type { FeedReport } from '../feeds/report.ts'

/** A row of `vendor_feeds`, as whoever fetches it holds it. */
export type StoredFeed = VendorFeed & {
  id: string
  /** counts claims: what an older claim found is not written any more */
  claims: number
  etag: string | null
  lastModified: string | null
  /** what it said last; null: it was never read */
  report: FeedReport | null
  digest: string | null
  /** false: an incident is gone from it, and waits to be counted as closed */
  isSettled: boolean
  /** reads in a row that failed */
  failures: number
}

const COLUMNS = `
  id, url, type, mapping, claims, etag, last_modified AS "lastModified", report, digest, is_settled AS "isSettled",
  failures`

/**
 * The one row of a feed, made when nobody followed it yet; then it is fetched at once. Locked until the transaction
 * ends, so that it is not forgotten before the dependency that follows it is there.
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

/**
 * Claims feeds that are due, until `leaseEnds`; a process that dies meanwhile leaves them due again. Feeds that nobody
 * follows any more are forgotten.
 */
export async function claimDueFeeds(db: Db, now: Date, leaseEnds: Date, limit: number): Promise<StoredFeed[]> {
  if (!(await hasRows(db, 'SELECT FROM vendor_feeds WHERE next_fetch_at <= ?', [now]))) return []
  return db.transaction(async tx => {
    const due = await query<{ id: string }>(
      tx,
      'SELECT id FROM vendor_feeds WHERE next_fetch_at <= ? ORDER BY next_fetch_at LIMIT ? FOR UPDATE SKIP LOCKED',
      [now, limit],
    )
    if (due.length === 0) return []
    const ids = due.map(({ id }) => id)
    // only now: whoever began to follow one of them before it was locked is seen
    await execute(
      tx,
      `DELETE FROM vendor_feeds f WHERE id = ANY (?::uuid[])
         AND NOT EXISTS (SELECT FROM dependencies d WHERE d.feed_id = f.id)`,
      [ids],
    )
    return query<StoredFeed>(
      tx,
      `UPDATE vendor_feeds SET next_fetch_at = :leaseEnds, claims = claims + 1 WHERE id = ANY (:ids::uuid[])
       RETURNING ${COLUMNS}`,
      { ids, leaseEnds },
    )
  })
}

/** True while nobody else has claimed the feed; it stays so until the transaction ends. */
export async function lockFeedClaim(tx: Tx, { id, claims }: StoredFeed): Promise<boolean> {
  const sql = 'SELECT 1 FROM vendor_feeds WHERE id = ? AND claims = ? FOR NO KEY UPDATE'
  return (await query(tx, sql, [id, claims])).length === 1
}

/** What was read of a feed, when, and when it is read next. */
export type FeedRead = {
  report: FeedReport
  digest: string
  etag: string | null
  lastModified: string | null
  readAt: Date
  nextFetchAt: Date
}

/**
 * Notes what a feed said and ends the claim, unless somebody else has claimed it meanwhile. What is the same as before
 * is not written again.
 */
export async function storeRead(
  db: Db,
  { id, claims, digest }: StoredFeed,
  { report, ...read }: FeedRead & { isSettled: boolean },
): Promise<void> {
  const news = read.digest === digest ? null : JSON.stringify(report)
  await execute(
    db,
    `UPDATE vendor_feeds SET report = coalesce(:news, report), digest = :digest, is_settled = :isSettled, etag = :etag,
       last_modified = :lastModified, read_at = :readAt, next_fetch_at = :nextFetchAt, failures = 0, last_error = NULL
     WHERE id = :id AND claims = :claims`,
    { id, claims, news, ...read },
  )
}

/** Notes that nothing was found out, and ends the claim; what was known stays. */
export async function storeFailure(
  db: Db,
  { id, claims }: StoredFeed,
  { error, failures, nextFetchAt }: { error: string; failures: number; nextFetchAt: Date },
): Promise<void> {
  await execute(
    db,
    `UPDATE vendor_feeds SET failures = :failures, last_error = :error, next_fetch_at = :nextFetchAt
     WHERE id = :id AND claims = :claims`,
    { id, claims, error, failures, nextFetchAt },
  )
}
