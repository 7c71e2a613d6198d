import type { YieldPoint } from '../time/clock.ts'

const ITEMS_PER_CHUNK = 50

/** All items of something long, which are made one by one, with turns for others between them. */
export async function collectInChunks<T>(items: Iterable<T>, pause: YieldPoint): Promise<T[]> {
  const all: T[] = []
  for (const item of items) {
    all.push(item)
    if (all.length % ITEMS_PER_CHUNK === 0) await pause()
  }
  return all
}

/** What `of` makes of each item, with turns for others between them. */
export function mapInChunks<T, R>(items: Iterable<T>, of: (item: T) => R, pause: YieldPoint): Promise<R[]> {
  return collectInChunks(
    (function* () {
      for (const item of items) yield of(item)
    })(),
    pause,
  )
}
