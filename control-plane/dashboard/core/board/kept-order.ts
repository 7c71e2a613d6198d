import { type BoardSelection, selectRows } from './board.ts'
import type { BoardRequest, BoardRow } from './board-row.ts'
import type { SortedBoard } from './sorted-board.ts'

/**
 * Selects rows in an order that the page has shown before, so that none moves under the pointer. `order`: the ids in that order;
 * rows that were not in it come last. Groups have the current order.
 */
export function selectInOrder(
  board: SortedBoard,
  order: readonly string[],
  matches: (row: BoardRow) => boolean,
  request: BoardRequest,
): BoardSelection {
  const current = selectRows(board, matches, request)
  if (request.groups) return current
  const kept = selectRows({ ...board, rows: keepOrder(order, board.rows) }, matches, request)
  if (kept.rows.every(({ id }, i) => id === current.rows[i]!.id)) return current
  const shown = new Set(kept.rows.map(({ id }) => id))
  const hidden = current.rows.filter(({ id, status }) => isTrouble(status) && !shown.has(id))
  return { ...kept, oldOrder: { hiddenTrouble: hidden.length } }
}

const isTrouble = (status: BoardRow['status']) => status === 'down' || status === 'degraded'

function keepOrder(order: readonly string[], rows: readonly BoardRow[]): BoardRow[] {
  const left = new Map(rows.map(row => [row.id, row]))
  const kept: BoardRow[] = []
  for (const id of order) {
    const row = left.get(id)
    if (!row) continue
    kept.push(row)
    left.delete(id)
  }
  return [...kept, ...left.values()]
}
