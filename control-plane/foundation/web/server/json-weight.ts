/** The cost of writing or checking a value: each value in it weighs 1, and a text 1 more for this many characters. */
const TEXT_UNIT = 100

/** Values without parts, and those with a `toJSON`. */
export const isLeaf = (value: unknown) => typeof value !== 'object' || value === null || 'toJSON' in value

/** Stops counting at `max`. */
function computeWeight(value: unknown, max: number): number {
  if (typeof value === 'string') return 1 + value.length / TEXT_UNIT
  if (isLeaf(value)) return 1
  let weight = 1
  for (const key in value as Record<string, unknown>) {
    if (weight >= max) return weight
    const inner = (value as Record<string, unknown>)[key]
    // fast path: every response is weighed, and most values have no parts
    if (typeof inner === 'string') weight += 1 + inner.length / TEXT_UNIT
    else weight += inner !== null && typeof inner === 'object' ? computeWeight(inner, max - weight) : 1
  }
  return weight
}

export const exceedsWeight = (value: unknown, max: number) => computeWeight(value, max + 1) > max

/** Splits a list into chunks of at most `max` weight; an item that weighs more is a chunk of its own. */
export function* splitByWeight<T>(list: readonly T[], max: number): Generator<T[]> {
  let from = 0
  let weight = 0
  for (let at = 0; at < list.length; at++) {
    const own = computeWeight(list[at], max)
    if (weight + own > max && at > from) {
      yield list.slice(from, at)
      from = at
      weight = 0
    }
    weight += own
  }
  if (from < list.length) yield list.slice(from)
}
