import { createInterner } from '../../../foundation/platform/cache/intern.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { getHistoryPosition, type HistoryPosition, isDifferentHistory } from '../store.ts'
import type { CheckedRegions } from './checked-regions.ts'
import { listCheckedRegionsSince } from './checked-regions-store.ts'

const PAGE_SIZE = 5_000

/** The regions in which each monitor is checked, in memory. A look-up needs no query. */
export type CheckedRegionsCache = {
  /** Returns undefined when the monitor does not exist or is deleted. */
  of(monitorId: string): CheckedRegions | undefined
  /** Reads the changes. It covers everything that was committed before the call. */
  refresh(): Promise<void>
  /** True when everything was read once. */
  isKnown(): boolean
}

export function createCheckedRegionsCache(db: Db): CheckedRegionsCache {
  const known = new Map<string, CheckedRegions>()
  // there are few different sets of regions
  const intern = createInterner<CheckedRegions>(10_000)
  let revision = 0
  let position: HistoryPosition | null = null
  let reading: Promise<void> | null = null
  let next: Promise<void> | null = null

  async function read(): Promise<void> {
    const now = await getHistoryPosition(db)
    if (isDifferentHistory(now, position, revision)) {
      known.clear()
      revision = 0
    }
    for (let hasMore = now.revision > revision; hasMore; ) {
      const page = await listCheckedRegionsSince(db, revision, PAGE_SIZE)
      for (const { id, regions, left, isDeleted } of page) {
        if (isDeleted) known.delete(id)
        else
          known.set(
            id,
            intern(`${regions} ${JSON.stringify(left)}`, () => ({ regions, left })),
          )
      }
      revision = page.at(-1)?.revision ?? revision
      hasMore = page.length === PAGE_SIZE
    }
    position = now
  }

  function refresh(): Promise<void> {
    if (reading === null) {
      reading = read().finally(() => {
        reading = null
      })
      return reading
    }
    // the read that is running may have begun before the change
    next ??= reading
      .catch(() => {})
      .then(() => {
        next = null
        return refresh()
      })
    return next
  }

  return { of: id => known.get(id), refresh, isKnown: () => position !== null }
}
