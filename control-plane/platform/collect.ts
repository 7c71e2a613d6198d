import type { Pause } from './clock.ts'

const ITEMS_A_PIECE = 50

/** All items of something long, which are made one by one, with turns for others between them. */
export async function collect<T>(items: Iterable<T>, pause: Pause): Promise<T[]> {
  const all: T[] = []
  for (const item of items) {
    all.push(item)
    if (all.length % ITEMS_A_PIECE === 0) await pause()
  }
  return all
}

/** What `of` makes of each item, with turns for others between them. */
export function collectEach<T, R>(items: Iterable<T>, of: (item: T) => R, pause: Pause): Promise<R[]> {
  return collect(
    (function* () {
      for (const item of items) yield of(item)
    })(),
    pause,
  )
}
