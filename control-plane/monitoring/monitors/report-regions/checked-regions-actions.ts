import { createInterner } from '../../../foundation/platform/cache/intern.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { getHistoryPosition, type HistoryPosition, isDifferentHistory } from '../store.ts'
import type { CheckedRegions } from './checked-regions.ts'
import { listCheckedRegionsSince } from './checked-regions-store.ts'

const PAGE_SIZE = 5_000

/** In which regions each monitor is checked, in memory: a look costs no query. */
export type CheckedRegionsCache = {
  /** Undefined: the monitor does not exist or is deleted. */
  of(monitorId: string): CheckedRegions | undefined
  /** Reads what changed. What was committed before the call is known after it. */
  refresh(): Promise<void>
  /** everything was read once */
  isKnown(): boolean
}

export function createCheckedRegionsCache(db: Db): CheckedRegionsCache {
  const known = new Map<string, CheckedRegions>()
  // most monitors have one of a few sets of regions
  const oneOfEach = createInterner<CheckedRegions>(10_000)
  let revision = 0
  let place: HistoryPosition | null = null
  let reading: Promise<void> | null = null
  let next: Promise<void> | null = null

  async function read(): Promise<void> {
    const now = await getHistoryPosition(db)
    if (isDifferentHistory(now, place, revision)) {
      known.clear()
      revision = 0
    }
    for (let isMore = now.revision > revision; isMore; ) {
      const page = await listCheckedRegionsSince(db, revision, PAGE_SIZE)
      for (const { id, regions, left, isDeleted } of page) {
        if (isDeleted) known.delete(id)
        else
          known.set(
            id,
            oneOfEach(`${regions} ${JSON.stringify(left)}`, () => ({ regions, left })),
          )
      }
      revision = page.at(-1)?.revision ?? revision
      isMore = page.length === PAGE_SIZE
    }
    place = now
  }

  function refresh(): Promise<void> {
    if (reading === null) {
      reading = read().finally(() => {
        reading = null
      })
      return reading
    }
    // the one that is under way may have begun before the change
    next ??= reading
      .catch(() => {})
      .then(() => {
        next = null
        return refresh()
      })
    return next
  }

  return { of: id => known.get(id), refresh, isKnown: () => place !== null }
}
