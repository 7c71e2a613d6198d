/** A cache of the values that were used last. */
type LruCache<V> = {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  values(): Iterable<V>
}

/** Keeps the `maxSize` values that were set or read last. */
export function createLruCache<V>(maxSize: number): LruCache<V> {
  // a map keeps its order: the first entry is the least recently used
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
      if (kept.size > maxSize) kept.delete(kept.keys().next().value!)
    },
    delete: key => void kept.delete(key),
    values: () => kept.values(),
  }
}
