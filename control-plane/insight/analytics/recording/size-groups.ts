/** Groups consecutive items by size, at most `limit` per group. A larger item has a group of its own. */
export function groupBySize<T>(items: T[], getSize: (item: T) => number, limit: number): T[][] {
  const groups: T[][] = []
  let size = 0
  for (const item of items) {
    size += getSize(item)
    const current = groups.at(-1)
    if (current && size <= limit) current.push(item)
    else {
      groups.push([item])
      size = getSize(item)
    }
  }
  return groups
}
