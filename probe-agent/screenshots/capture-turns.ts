import { ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'

type CaptureTurn = { order: ScreenshotOrder; tenant: number }

type CaptureTurns<T extends CaptureTurn> = {
  /** Adds a capture. Returns the one that is dropped for it, or the capture itself when there is no room for it. */
  put: (item: T) => T | undefined
  /** Removes and returns the capture whose turn it is. */
  take: () => T | undefined
  clear: () => void
}

/**
 * The captures that wait. Failures are taken before comparisons, and tenants take turns: next is the one that waits longest
 * since its last turn. In a full queue, a failure replaces a comparison, and a capture replaces one of the same kind of a
 * tenant that has at least two more. Unlike a fair limiter, this knows kinds and drops captures of others.
 */
export function createCaptureTurns<T extends CaptureTurn>(maxQueued: number): CaptureTurns<T> {
  const queue: T[] = []
  /** the number of the last turn of each tenant */
  const lastTurns = new Map<number, number>()
  let turn = 0

  const count = (tenant: number) => queue.filter(item => item.tenant === tenant).length

  /** The last capture of the tenant that has most of those that yield to `item`. */
  function findReplaceable(item: T): T | undefined {
    const own = count(item.tenant)
    const yields = (other: T) =>
      rank(other) > rank(item) || (rank(other) === rank(item) && count(other.tenant) > own + 1)
    const lowest = Math.max(...queue.filter(yields).map(rank))
    const candidates = queue.filter(other => yields(other) && rank(other) === lowest)
    return candidates.reduceRight<T | undefined>(
      (best, other) => (best && count(best.tenant) >= count(other.tenant) ? best : other),
      undefined,
    )
  }

  function remove(item: T): T {
    queue.splice(queue.indexOf(item), 1)
    return item
  }

  return {
    put(item) {
      const replaced = queue.length < maxQueued ? undefined : findReplaceable(item)
      if (queue.length >= maxQueued && !replaced) return item
      if (replaced) remove(replaced)
      queue.push(item)
      return replaced
    },
    take() {
      const [next] = queue.toSorted(
        (a, b) => rank(a) - rank(b) || (lastTurns.get(a.tenant) ?? 0) - (lastTurns.get(b.tenant) ?? 0),
      )
      if (!next) return undefined
      // when no other capture waits, earlier turns do not count
      if (queue.length === 1) lastTurns.clear()
      lastTurns.set(next.tenant, ++turn)
      return remove(next)
    },
    clear() {
      queue.length = 0
    },
  }
}

/** Lower: taken earlier. */
const rank = ({ order }: CaptureTurn): number => (order.kind === ScreenshotKind.FAILURE ? 0 : 1)
