/** A seeded random generator: the same seed gives the same numbers. */
export type Random = {
  /** a whole number from `min` to `max`, both included */
  between(min: number, max: number): number
  chance(share: number): boolean
  pick<T>(from: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

export function seededRandom(seed: number): Random {
  const next = mulberry32(seed)
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    between,
    chance: share => next() < share,
    pick: from => from[between(0, from.length - 1)]!,
    shuffled(items) {
      const left = [...items]
      return items.map(() => left.splice(between(0, left.length - 1), 1)[0]!)
    },
  }
}

/** Has 32 bits of state; returns numbers from 0 (included) to 1 (excluded). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
