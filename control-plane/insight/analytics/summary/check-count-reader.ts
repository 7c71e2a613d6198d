import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { nowMs, withTimeout } from '../../../foundation/platform/time/clock.ts'
import { countChecks, listCheckedMonitorIds } from './summary-store.ts'

/** The maximum age of a cached count. */
const CACHE_TTL_MS = 5_000
const MAX_CACHED_PROJECTS = 10_000
/** ClickHouse may be slow or unreachable; the rest of a summary does not wait for it. */
const QUERY_TIMEOUT_MS = 2_000

/** The number of checks of a project in 24 hours, at most 5 s old; null while ClickHouse is unreachable or too slow. */
export function createCheckCountReader({ db, clickhouse }: { db: Db; clickhouse: Clickhouse }) {
  const cache = new Map<string, { count: Promise<number | null>; readMs: number }>()
  return async (projectId: string): Promise<number | null> => {
    const cached = cache.get(projectId)
    if (cached && nowMs() - cached.readMs < CACHE_TTL_MS) return withTimeout(cached.count, QUERY_TIMEOUT_MS)
    if (cache.size > MAX_CACHED_PROJECTS) cache.clear()
    const ids = await listCheckedMonitorIds(db, projectId)
    const count = countChecks(clickhouse, ids).catch(() => null)
    cache.set(projectId, { count, readMs: nowMs() })
    return withTimeout(count, QUERY_TIMEOUT_MS)
  }
}
