import type { Db } from '../../foundation/platform/postgres/client.ts'
import { countMonitors, getLatestRevision, type MonitorFilter } from './store.ts'

const MAX_CACHED_COUNTS = 10_000

export type MonitorCounter = (projectId: string, filter: MonitorFilter) => Promise<number>

/**
 * How many monitors of a project a filter lets through. To count them costs as much as a hundred pages of them, so a
 * count is kept as long as the newest revision says that no monitor was made, deleted or became another type. What else
 * can be filtered by changes without a revision and is counted each time.
 */
export function createMonitorCounter(db: Db): MonitorCounter {
  const kept = new Map<string, { revision: number; total: number }>()

  return async (projectId, filter) => {
    const { type, statuses, tag, text } = filter
    if (statuses !== null || tag !== null || text !== null) return countMonitors(db, projectId, filter)
    const key = `${projectId} ${type}`
    // read before the count: a change between the two is in the count, and then counted once more
    const revision = await getLatestRevision(db)
    const known = kept.get(key)
    if (known?.revision === revision) return known.total
    const total = await countMonitors(db, projectId, filter)
    if (kept.size >= MAX_CACHED_COUNTS) kept.clear()
    kept.set(key, { revision, total })
    return total
  }
}
