import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { nowMs, withTimeout } from '../../../foundation/platform/time/clock.ts'
import { countChecks, listCheckedMonitorIds } from './summary-store.ts'

/** How old an answer may be. */
const CACHE_TTL_MS = 5_000
const MAX_CACHED_PROJECTS = 10_000
/** The history may be slow or away; the rest of a summary does not wait for it. */
const QUERY_TIMEOUT_MS = 2_000

/** How many checks a project had in 24 hours, up to 5 s old; null while the history is away or takes too long. */
export function createCheckCountReader({ db, clickhouse }: { db: Db; clickhouse: Clickhouse }) {
  const kept = new Map<string, { count: Promise<number | null>; readMs: number }>()
  return async (projectId: string): Promise<number | null> => {
    const known = kept.get(projectId)
    if (known && nowMs() - known.readMs < CACHE_TTL_MS) return withTimeout(known.count, QUERY_TIMEOUT_MS)
    if (kept.size > MAX_CACHED_PROJECTS) kept.clear()
    const ids = await listCheckedMonitorIds(db, projectId)
    const count = countChecks(clickhouse, ids).catch(() => null)
    kept.set(projectId, { count, readMs: nowMs() })
    return withTimeout(count, QUERY_TIMEOUT_MS)
  }
}
