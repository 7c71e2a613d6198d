type Reference = { name: string; to: string }

/** Sorts tables so that each comes before the tables it refers to. Tables in a cycle keep their order. */
export function sortChildrenFirst<Table extends { name: string }>(tables: Table[], references: Reference[]): Table[] {
  const ordered: Table[] = []
  let left = tables
  while (left.length > 0) {
    const referenced = new Set(
      references.filter(({ name, to }) => name !== to && left.some(table => table.name === name)).map(({ to }) => to),
    )
    const free = left.filter(({ name }) => !referenced.has(name))
    const next = free.length > 0 ? free : left
    ordered.push(...next)
    left = left.filter(table => !next.includes(table))
  }
  return ordered
}
