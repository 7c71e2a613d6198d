import { type BoardSelection, selectRows } from './board.ts'
import type { BoardRequest, BoardRow } from './board-row.ts'
import type { SortedBoard } from './sorted-board.ts'

/**
 * Selects rows in the order of an earlier board that the page shows, so that none moves under the pointer. `byId`: the current
 * rows. Those that the earlier board did not have come last. Groups have the current order.
 */
export function selectInOrder(
  board: SortedBoard,
  { shown, byId }: { shown: SortedBoard; byId: ReadonlyMap<string, BoardRow> },
  matches: (row: BoardRow) => boolean,
  request: BoardRequest,
): BoardSelection {
  const current = selectRows(board, matches, request)
  if (request.groups || shown === board) return current
  const rows = takeInOrder(shown, byId, matches, request.limit)
  const ids = new Set(rows.map(({ id }) => id))
  for (const row of current.rows) {
    if (rows.length === current.rows.length) break
    if (!ids.has(row.id)) rows.push(row)
  }
  if (rows.every(({ id }, i) => id === current.rows[i]!.id)) return current
  const seen = new Set(rows.map(({ id }) => id))
  const hidden = current.rows.filter(({ id, status }) => isFailing(status) && !seen.has(id))
  return { ...current, rows, oldOrder: { hiddenFailing: hidden.length } }
}

const isFailing = (status: BoardRow['status']) => status === 'down' || status === 'degraded'

/** The first rows of the order that still exist and match. */
function takeInOrder(
  { rows }: SortedBoard,
  byId: ReadonlyMap<string, BoardRow>,
  matches: (row: BoardRow) => boolean,
  limit: number,
): BoardRow[] {
  const taken: BoardRow[] = []
  for (const { id } of rows) {
    if (taken.length === limit) break
    const row = byId.get(id)
    if (row && matches(row)) taken.push(row)
  }
  return taken
}
