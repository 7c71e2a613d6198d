import type { Db } from '../platform/postgres.ts'
import { countMonitors, latestRevision, type MonitorFilter } from './store.ts'

const MOST_KEPT = 10_000

export type CountMonitors = (projectId: string, filter: MonitorFilter) => Promise<number>

/**
 * How many monitors of a project a filter lets through. To count them costs as much as a hundred pages of them, so a
 * count is kept as long as the newest revision says that no monitor was made, deleted or became another type. What else
 * can be filtered by changes without a revision and is counted each time.
 */
export function createMonitorCount(db: Db): CountMonitors {
  const kept = new Map<string, { revision: number; total: number }>()

  return async (projectId, filter) => {
    const { type, statuses, tag, text } = filter
    if (statuses !== null || tag !== null || text !== null) return countMonitors(db, projectId, filter)
    const key = `${projectId} ${type}`
    // read before the count: a change between the two is in the count, and then counted once more
    const revision = await latestRevision(db)
    const known = kept.get(key)
    if (known?.revision === revision) return known.total
    const total = await countMonitors(db, projectId, filter)
    if (kept.size >= MOST_KEPT) kept.clear()
    kept.set(key, { revision, total })
    return total
  }
}
