import { createOneOfEach } from '../platform/one-of-each.ts'
import type { Db } from '../platform/postgres.ts'
import type { CheckedRegions } from './checked-regions.ts'
import { checkedRegionsSince } from './checked-regions-store.ts'
import { type HistoryPlace, historyPlace, isOtherHistory } from './store.ts'

const PAGE = 5_000

/** In which regions each monitor is checked, in memory: a look costs no query. */
export type CheckedMonitors = {
  /** Undefined: the monitor does not exist or is deleted. */
  of(monitorId: string): CheckedRegions | undefined
  /** Reads what changed. What was committed before the call is known after it. */
  refresh(): Promise<void>
  /** everything was read once */
  isKnown(): boolean
}

export function createCheckedMonitors(db: Db): CheckedMonitors {
  const known = new Map<string, CheckedRegions>()
  // most monitors have one of a few sets of regions
  const oneOfEach = createOneOfEach<CheckedRegions>(10_000)
  let revision = 0
  let place: HistoryPlace | null = null
  let reading: Promise<void> | null = null
  let next: Promise<void> | null = null

  async function read(): Promise<void> {
    const now = await historyPlace(db)
    if (isOtherHistory(now, place, revision)) {
      known.clear()
      revision = 0
    }
    for (let isMore = now.revision > revision; isMore; ) {
      const page = await checkedRegionsSince(db, revision, PAGE)
      for (const { id, regions, left, isDeleted } of page) {
        if (isDeleted) known.delete(id)
        else
          known.set(
            id,
            oneOfEach(`${regions} ${JSON.stringify(left)}`, () => ({ regions, left })),
          )
      }
      revision = page.at(-1)?.revision ?? revision
      isMore = page.length === PAGE
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
