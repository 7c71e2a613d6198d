import type { Clickhouse } from '../platform/clickhouse.ts'
import { inTime, nowMs } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { checkedMonitors, countChecks } from './summary-store.ts'

/** How old an answer may be. */
const KEPT_MS = 5_000
const MOST_KEPT = 10_000
/** The history may be slow or away; the rest of a summary does not wait for it. */
const PATIENCE_MS = 2_000

/** How many checks a project had in 24 hours, up to 5 s old; null while the history is away or takes too long. */
export function createChecksOfDay({ db, clickhouse }: { db: Db; clickhouse: Clickhouse }) {
  const kept = new Map<string, { count: Promise<number | null>; readMs: number }>()
  return async (projectId: string): Promise<number | null> => {
    const known = kept.get(projectId)
    if (known && nowMs() - known.readMs < KEPT_MS) return inTime(known.count, PATIENCE_MS)
    if (kept.size > MOST_KEPT) kept.clear()
    const ids = await checkedMonitors(db, projectId)
    const count = countChecks(clickhouse, ids).catch(() => null)
    kept.set(projectId, { count, readMs: nowMs() })
    return inTime(count, PATIENCE_MS)
  }
}
