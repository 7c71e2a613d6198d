type Reference = { name: string; to: string }

/** Tables in an order in which each comes before those that it refers to. In a circle they come as they were. */
export function sortChildrenFirst<Place extends { name: string }>(places: Place[], references: Reference[]): Place[] {
  const ordered: Place[] = []
  let left = places
  while (left.length > 0) {
    const awaited = new Set(
      references.filter(({ name, to }) => name !== to && left.some(place => place.name === name)).map(({ to }) => to),
    )
    const free = left.filter(({ name }) => !awaited.has(name))
    const next = free.length > 0 ? free : left
    ordered.push(...next)
    left = left.filter(place => !next.includes(place))
  }
  return ordered
}
