import { type Clickhouse, readAs } from '../../../foundation/platform/clickhouse.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, withTimeout } from '../../../foundation/platform/time/clock.ts'
import { countChecks, listCheckedMonitorIds } from './summary-store.ts'

/** The maximum age of a cached count. */
const CACHE_TTL_MS = 5_000
const MAX_CACHED_PROJECTS = 10_000
/** ClickHouse may be slow or unreachable; the rest of a summary does not wait for it. */
const WAIT_MS = 2_000
/** A count goes on for later summaries, of which each waits for the same one. */
const COUNT_TIMEOUT_MS = 30_000

/** `endedMs`: null while the count runs */
type CachedCount = { count: Promise<number | null>; endedMs: number | null }

/** The number of checks of a project in 24 hours, at most 5 s old; null while ClickHouse is unreachable or too slow. */
export function createCheckCountReader({ db, clickhouse }: { db: Db; clickhouse: Clickhouse }) {
  const cache = new Map<string, CachedCount>()

  const startCount = (projectId: string) => {
    if (cache.size > MAX_CACHED_PROJECTS)
      for (const [key, { endedMs }] of cache) if (endedMs !== null) cache.delete(key)
    const share = { key: projectId, timeoutMs: COUNT_TIMEOUT_MS }
    const counting = listCheckedMonitorIds(db, projectId).then(ids =>
      readAs(clickhouse, share, reads => countChecks(reads, ids)).catch(() => null),
    )
    const entry: CachedCount = { count: counting, endedMs: null }
    cache.set(projectId, entry)
    counting.then(
      () => {
        entry.endedMs = monotonicMs()
      },
      () => cache.delete(projectId),
    )
    return entry
  }

  return async (projectId: string): Promise<number | null> => {
    const known = cache.get(projectId)
    const isCurrent = known && (known.endedMs === null || monotonicMs() - known.endedMs < CACHE_TTL_MS)
    const { count } = isCurrent ? known : startCount(projectId)
    return withTimeout(count, WAIT_MS)
  }
}
