/**
 * Gives, for a key, the value that was first given for it: a hundred thousand records that say the same then hold one
 * copy of it. Forgets everything when there are more than `most` of them, which costs memory and nothing else.
 */
export function createInterner<Value>(most: number): (key: string, make: () => Value) => Value {
  const kept = new Map<string, Value>()
  return (key, make) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    if (kept.size >= most) kept.clear()
    const value = make()
    kept.set(key, value)
    return value
  }
}
