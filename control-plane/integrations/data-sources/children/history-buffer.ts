import type { SourceFetch } from '../fetching/fetch-result.ts'

/** About half an hour of a few hundred sources. */
const MAX_BUFFERED_FETCHES = 10_000
/** In all fetches together: about 100 MB. A fetch has up to 200. */
export const MAX_BUFFERED_CHILDREN = 200_000

type HistoryBuffer = {
  /** Adds a fetch, and returns how many older ones were dropped. */
  add(fetch: SourceFetch): number
  size(): number
  /** The oldest fetches, which stay in the buffer. */
  listOldest(count: number): SourceFetch[]
  remove(fetches: readonly SourceFetch[]): void
}

/** Creates the buffer of fetches that are not yet in the history. Of too many, the oldest are dropped. */
export function createHistoryBuffer(): HistoryBuffer {
  const waiting: SourceFetch[] = []
  let children = 0
  const isFull = () => waiting.length > MAX_BUFFERED_FETCHES || children > MAX_BUFFERED_CHILDREN
  return {
    add(fetch) {
      waiting.push(fetch)
      children += countChildren(fetch)
      let dropped = 0
      for (; isFull() && waiting.length > 1; dropped++) children -= countChildren(waiting.shift()!)
      return dropped
    },
    size: () => waiting.length,
    listOldest: count => waiting.slice(0, count),
    remove(fetches) {
      const removed = new Set(fetches)
      waiting.splice(0, waiting.length, ...waiting.filter(fetch => !removed.has(fetch)))
      children = waiting.reduce((sum, fetch) => sum + countChildren(fetch), 0)
    },
  }
}

const countChildren = ({ result }: SourceFetch): number => ('failure' in result ? 0 : result.children.length)
