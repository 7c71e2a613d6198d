/** How much work it is to write or to check a value: each value in it weighs 1, and a text 1 more for so many characters. */
const TEXT_UNIT = 100

/** Values that are not walked into: those without parts, and those with a `toJSON`. */
export const isLeaf = (value: unknown) => typeof value !== 'object' || value === null || 'toJSON' in value

/** No more than `most` is looked at. */
function computeWeight(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / TEXT_UNIT
  if (isLeaf(value)) return 1
  let weight = 1
  for (const key in value as Record<string, unknown>) {
    if (weight >= most) return weight
    const inner = (value as Record<string, unknown>)[key]
    // every answer is weighed, and most of its values have no parts
    if (typeof inner === 'string') weight += 1 + inner.length / TEXT_UNIT
    else weight += inner !== null && typeof inner === 'object' ? computeWeight(inner, most - weight) : 1
  }
  return weight
}

export const exceedsWeight = (value: unknown, most: number) => computeWeight(value, most + 1) > most

/** A list in pieces of neighbours that weigh no more than `most` together; of one item where that weighs more by itself. */
export function* splitByWeight<T>(list: readonly T[], most: number): Generator<T[]> {
  let from = 0
  let weight = 0
  for (let at = 0; at < list.length; at++) {
    const own = computeWeight(list[at], most)
    if (weight + own > most && at > from) {
      yield list.slice(from, at)
      from = at
      weight = 0
    }
    weight += own
  }
  if (from < list.length) yield list.slice(from)
}
