import type { Egress } from '../../../../shared/egress/types.ts'
import type { OwnFaultDetector } from '../../../foundation/platform/network/own-faults.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { applyFeedRead } from '../incidents/report-actions.ts'
import { findTurnKey, type StoredFeed, storeFailure, storeRead } from './feed-store.ts'
import { computeNextFetchAt } from './fetch-interval.ts'
import { fetchFeed } from './fetch-reader.ts'

type RefreshTools = {
  db: Db
  egress: Egress
  ownFaults: OwnFaultDetector
  timeoutMs: number
  intervalMs: number
  /** a random time below `ms`, for retries */
  jitterMs: (ms: number) => number
  now: () => Date
}

/** When a feed is read again that Picket could not reach or had no time to parse. */
const DEFERRED_MS = 10_000

/**
 * Reads a claimed feed and applies its report to all dependencies on it. An unchanged report needs no transaction. A
 * failed read is retried with growing intervals and changes no dependency. A feed that Picket could not
 * reach or had no time to parse is read again after `DEFERRED_MS`, and does not count as failed.
 */
export async function refreshFeed(
  feed: StoredFeed,
  tools: RefreshTools,
): Promise<'changed' | 'same' | 'failed' | 'deferred'> {
  const { db, egress, ownFaults, timeoutMs, intervalMs, jitterMs, now } = tools
  const startedAt = now()
  const turn = { caller: 'worker', getKey: () => findTurnKey(db, feed.id) } as const
  const fetched = await fetchFeed(feed, { egress, ownFaults }, timeoutMs, now, turn)
  if ('error' in fetched) {
    const failures = feed.failures + (fetched.isOurFault ? 0 : 1)
    const waitMs = fetched.isOurFault ? Math.min(intervalMs, DEFERRED_MS) : intervalMs
    const nextFetchAt = computeNextFetchAt(fetched.isOurFault ? 0 : failures, waitMs, now(), jitterMs)
    await storeFailure(db, feed, { error: fetched.error.slice(0, 500), failures, nextFetchAt })
    return fetched.isOurFault ? 'deferred' : 'failed'
  }
  const nextFetchAt = computeNextFetchAt(0, intervalMs, startedAt, jitterMs)
  const read = { ...fetched, readAt: now(), nextFetchAt }
  if (read.digest === feed.digest && feed.isSettled) {
    await storeRead(db, feed, { ...read, isSettled: true })
    return 'same'
  }
  return (await applyFeedRead(db, feed, read, now())) ? 'changed' : 'same'
}
