import type { BoardRow } from './board-row.ts'

/** A monitor that is down, on which others depend. */
export type ParentOutage = { id: string; name: string }

/** As for the alerts of a monitor (docs/design/suppression.md#dependencies). */
const MAX_LEVELS = 32

/**
 * For each of `rows` that is down or degraded: the ancestors that are down, of these only the farthest, because the outages of
 * the others can be explained by theirs. Rows without such an ancestor are left out. `all`: every monitor of the project.
 */
export function findParentOutages(rows: readonly BoardRow[], all: readonly BoardRow[]): Record<string, ParentOutage[]> {
  const children = rows.filter(({ status, parents }) => isFailing(status) && parents.length > 0)
  if (children.length === 0) return {}
  const byId = indexRows(all)
  const outages: [string, ParentOutage[]][] = children.map(row => [row.id, findFarthestDown(row, byId)])
  return Object.fromEntries(outages.filter(([, found]) => found.length > 0))
}

/** The rows of a board by id. Kept, because the same board is shown many times. */
const indexes = new WeakMap<readonly BoardRow[], ReadonlyMap<string, BoardRow>>()

function indexRows(all: readonly BoardRow[]): ReadonlyMap<string, BoardRow> {
  const index = indexes.get(all) ?? new Map(all.map(row => [row.id, row]))
  indexes.set(all, index)
  return index
}

const isFailing = (status: BoardRow['status']): boolean => status === 'down' || status === 'degraded'

function findFarthestDown(row: BoardRow, byId: ReadonlyMap<string, BoardRow>): ParentOutage[] {
  let found: ParentOutage[] = []
  // a change that is not complete yet may contain a circle
  const seen = new Set([row.id])
  let level = [row]
  for (let distance = 1; distance <= MAX_LEVELS && level.length > 0; distance++) {
    const next: BoardRow[] = []
    for (const id of level.flatMap(({ parents }) => parents)) {
      // a deleted parent is not on the board
      const parent = byId.get(id)
      if (!parent || seen.has(id)) continue
      seen.add(id)
      next.push(parent)
    }
    const down = next.filter(({ status }) => status === 'down')
    if (down.length > 0) found = down.map(({ id, name }) => ({ id, name }))
    level = next
  }
  return found
}
