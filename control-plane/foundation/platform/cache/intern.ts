/**
 * Returns the value that was first created for a key, so that many equal records share one copy. When there are more than
 * `maxSize` values all are forgotten, which costs memory and nothing else.
 */
export function createInterner<Value>(maxSize: number): (key: string, make: () => Value) => Value {
  const kept = new Map<string, Value>()
  return (key, make) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    if (kept.size >= maxSize) kept.clear()
    const value = make()
    kept.set(key, value)
    return value
  }
}
