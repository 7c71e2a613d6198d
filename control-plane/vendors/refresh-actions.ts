import type { Egress } from '../../shared/egress/index.ts'
import type { Db } from '../platform/postgres.ts'
import { type StoredFeed, storeFailure, storeRead } from './feed-store.ts'
import { fetchFeed } from './fetch-reader.ts'
import { followFeed } from './follow-actions.ts'
import { nextFetchAfter } from './pace.ts'

export type RefreshTools = {
  db: Db
  egress: Egress
  /** of a read that fails */
  timeoutMs: number
  intervalMs: number
  jitterMs: (ms: number) => number
  now: () => Date
}

/**
 * Reads a claimed feed and brings all who follow it to what it says; what says the same as before costs them nothing.
 * What cannot be read is tried again later and later, and says nothing about the vendor.
 */
export async function refreshFeed(feed: StoredFeed, tools: RefreshTools): Promise<'changed' | 'same' | 'failed'> {
  const { db, egress, timeoutMs, intervalMs, jitterMs, now } = tools
  const startedAt = now()
  const fetched = await fetchFeed(feed, egress, timeoutMs, now)
  if ('error' in fetched) {
    const failures = feed.failures + 1
    const nextFetchAt = nextFetchAfter(failures, intervalMs, now(), jitterMs)
    await storeFailure(db, feed, { error: fetched.error.slice(0, 500), failures, nextFetchAt })
    return 'failed'
  }
  const nextFetchAt = nextFetchAfter(0, intervalMs, startedAt, jitterMs)
  const read = { ...fetched, readAt: now(), nextFetchAt }
  if (read.digest === feed.digest && feed.isSettled) {
    await storeRead(db, feed, { ...read, isSettled: true })
    return 'same'
  }
  return (await followFeed(db, feed, read, now())) ? 'changed' : 'same'
}
