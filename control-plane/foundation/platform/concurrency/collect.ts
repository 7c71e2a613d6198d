import type { YieldPoint } from '../time/clock.ts'

const ITEMS_PER_CHUNK = 50

/** The items of a long iterable, at most `limit`, yielding to other work between chunks. */
export async function collectInChunks<T>(
  items: Iterable<T>,
  pause: YieldPoint,
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const all: T[] = []
  for (const item of items) {
    all.push(item)
    if (all.length >= limit) break
    if (all.length % ITEMS_PER_CHUNK === 0) await pause()
  }
  return all
}

/** The results of `map` for each item, yielding to other work between chunks. */
export function mapInChunks<T, R>(items: Iterable<T>, map: (item: T) => R, pause: YieldPoint): Promise<R[]> {
  return collectInChunks(
    (function* () {
      for (const item of items) yield map(item)
    })(),
    pause,
  )
}
