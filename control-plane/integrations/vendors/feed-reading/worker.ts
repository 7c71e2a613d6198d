import type { Egress } from '../../../../shared/egress/types.ts'
import { createWorkPool } from '../../../foundation/platform/concurrency/work-pool.ts'
import { jitterMs } from '../../../foundation/platform/ids.ts'
import { createOwnFaultDetector } from '../../../foundation/platform/network/own-faults.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { ALIGNED, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { syncCatalogFeeds } from '../dependencies/dependency-actions.ts'
import { claimDueFeeds, type StoredFeed } from './feed-store.ts'
import { MAX_CONCURRENT_FEEDS } from './fetch-reader.ts'
import { refreshFeed } from './refresh-actions.ts'

const POLL_INTERVAL_MS = 5_000
const TIMEOUT_MS = 10_000
/** Longer than a read and applying its report can take. */
const LEASE_MS = 90_000

type VendorWorkerContext = LoopTools & {
  db: Db
  egress: Egress
  /** interval between reads of a feed */
  vendorIntervalSeconds: number
}

/**
 * Reads the feeds of vendors, each address once for all projects. Any number of processes share the work. A slow feed
 * does not delay other feeds.
 */
export function startVendorWorker(context: VendorWorkerContext): { stop(): Promise<void> } {
  const { db, egress, log, metrics } = context
  const reads = metrics.counter('picket_vendor_reads_total', 'Reads of vendor feeds by outcome', ['outcome'])
  const intervalMs = context.vendorIntervalSeconds * 1_000
  const tools = { db, egress, ownFaults: createOwnFaultDetector(), timeoutMs: TIMEOUT_MS, intervalMs, jitterMs, now }
  const refresh = async (feed: StoredFeed) => {
    try {
      reads.inc({ outcome: await refreshFeed(feed, tools) })
    } catch (err) {
      // an internal error: the claim expires, and other feeds are not affected
      log.error({ err, feed_id: feed.id, url: feed.url }, 'could not process a vendor feed')
      reads.inc({ outcome: 'internal_error' })
    }
  }
  const pool = createWorkPool({ maxConcurrent: MAX_CONCURRENT_FEEDS, onFree: () => isBehind && loop.wake() })
  let isBehind = false
  let hasCatalog = false
  const round = async () => {
    if (!hasCatalog) await syncCatalogFeeds(db, now())
    hasCatalog = true
    const free = pool.free()
    if (free === 0) return
    const due = await claimDueFeeds(db, { now: now(), leaseMs: LEASE_MS, limit: free })
    isBehind = due.length === free
    for (const feed of due) pool.start(() => refresh(feed))
  }
  const loop = startLoop('vendor-feeds', Math.min(POLL_INTERVAL_MS, intervalMs), { log, metrics }, round, ALIGNED)
  return {
    async stop() {
      await loop.stop()
      await pool.waitUntilIdle()
    },
  }
}
