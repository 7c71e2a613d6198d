import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { countMonitors } from './listing/list-store.ts'
import { ALL_MONITORS, type MonitorFilter } from './listing/monitor-filter.ts'
import { getLatestRevision } from './store.ts'

const MAX_CACHED_COUNTS = 10_000

type MonitorCounter = (projectId: string, filter: MonitorFilter) => Promise<number>

/**
 * Counts the monitors of a project that match a filter. A count costs as much as a hundred pages of the list, so it is
 * cached until the newest revision changes: then a monitor may have been created, deleted or changed its type. Other
 * filters are counted each time, because most of their fields change without a revision.
 */
export function createMonitorCounter(db: Db): MonitorCounter {
  const cache = new Map<string, { revision: number; total: number }>()

  return async (projectId, filter) => {
    const { type } = filter
    if (!isDeepStrictEqual({ ...filter, type: null }, ALL_MONITORS)) return countMonitors(db, projectId, filter)
    const key = `${projectId} ${type}`
    // read before the count, so that a change between the two only causes one more count
    const revision = await getLatestRevision(db)
    const cached = cache.get(key)
    if (cached?.revision === revision) return cached.total
    const total = await countMonitors(db, projectId, filter)
    if (cache.size >= MAX_CACHED_COUNTS) cache.clear()
    cache.set(key, { revision, total })
    return total
  }
}
