/** The selected rows of a list. Pure. */
export type Selection = {
  ids: ReadonlySet<string>
  /** the row that was selected or unselected last; a range begins there */
  anchorId: string | null
}

export const NOTHING_SELECTED: Selection = { ids: new Set(), anchorId: null }

/** Selects a row, or ends its selection. */
export function toggleRow({ ids }: Selection, id: string): Selection {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return { ids: next, anchorId: id }
}

/** Gives all rows from the last one to this one the state of the last one. `order`: the rows as they are shown. */
export function toggleRange(selection: Selection, order: readonly string[], id: string): Selection {
  const { ids, anchorId } = selection
  const [from, to] = [anchorId === null ? -1 : order.indexOf(anchorId), order.indexOf(id)]
  if (from === -1 || to === -1) return toggleRow(selection, id)
  const next = new Set(ids)
  for (const one of order.slice(Math.min(from, to), Math.max(from, to) + 1)) {
    if (ids.has(anchorId!)) next.add(one)
    else next.delete(one)
  }
  return { ids: next, anchorId: id }
}

/** Selects all rows that are shown; if all of them are selected, ends their selection. */
export function toggleShown({ ids }: Selection, order: readonly string[]): Selection {
  const shown = new Set(order)
  const isAll = order.every(id => ids.has(id))
  return { ids: isAll ? new Set([...ids].filter(id => !shown.has(id))) : new Set([...ids, ...order]), anchorId: null }
}

/** Adds rows to the selection. */
export const addRows = ({ ids, anchorId }: Selection, added: readonly string[]): Selection => ({
  ids: new Set([...ids, ...added]),
  anchorId,
})
