/** A group or a component in the one order of a page's things. */
export type OrderedItem = { id: string; displayOrder: number }

/** The order that visitors see: by `displayOrder`, then by age, which ids sort by. */
export const compareDisplayOrder = (a: OrderedItem, b: OrderedItem): number =>
  a.displayOrder - b.displayOrder || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** Behind everything that is there. */
export const getNextDisplayOrder = (placed: readonly OrderedItem[]): number =>
  placed.reduce((last, { displayOrder }) => Math.max(last, displayOrder), -1) + 1

/** Everything numbered anew from 0, where the named ones, in their new order, take the places that they had. */
export function reorderItems(placed: readonly OrderedItem[], ids: readonly string[]): OrderedItem[] {
  const named = new Set(ids)
  const next = ids[Symbol.iterator]()
  return placed
    .toSorted(compareDisplayOrder)
    .map(({ id }, displayOrder) => ({ id: named.has(id) ? next.next().value! : id, displayOrder }))
}

/** Everything numbered anew from 0: the named ones in their order, then the others in theirs. */
export function arrangeItems(placed: readonly OrderedItem[], ids: readonly string[]): OrderedItem[] {
  const rank = new Map(ids.map((id, index) => [id, index]))
  const rankOf = ({ id }: OrderedItem) => rank.get(id) ?? ids.length
  return placed
    .toSorted((a, b) => rankOf(a) - rankOf(b) || compareDisplayOrder(a, b))
    .map(({ id }, displayOrder) => ({ id, displayOrder }))
}
