/** How many of something there are now, for each key. */
type KeyCounter = {
  get(key: string): number
  add(key: string, change: 1 | -1): void
  /** all keys with a count; always current */
  counts: ReadonlyMap<string, number>
}

/** Counts what runs or is open for each key. Only keys that have something are stored. */
export function createKeyCounter(): KeyCounter {
  const counts = new Map<string, number>()
  const get = (key: string) => counts.get(key) ?? 0
  return {
    get,
    add(key, change) {
      const count = get(key) + change
      if (count > 0) counts.set(key, count)
      else counts.delete(key)
    },
    counts,
  }
}
