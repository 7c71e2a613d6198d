/** What was asked for last. */
export type LruCache<V> = {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  values(): Iterable<V>
}

/** Keeps the `most` values that were set or asked for last; the others are forgotten. */
export function createLruCache<V>(most: number): LruCache<V> {
  // a map keeps its order: the first was used longest ago
  const kept = new Map<string, V>()
  const put = (key: string, value: V) => {
    kept.delete(key)
    kept.set(key, value)
  }
  return {
    get(key) {
      const value = kept.get(key)
      if (value !== undefined) put(key, value)
      return value
    },
    set(key, value) {
      put(key, value)
      if (kept.size > most) kept.delete(kept.keys().next().value!)
    },
    delete: key => void kept.delete(key),
    values: () => kept.values(),
  }
}
