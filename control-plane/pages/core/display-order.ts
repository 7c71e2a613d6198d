/** A group or a component in the display order of a page. */
export type OrderedItem = { id: string; displayOrder: number }

/** The order that visitors see: by `displayOrder`, then by age (ids sort by age). */
export const compareDisplayOrder = (a: OrderedItem, b: OrderedItem): number =>
  a.displayOrder - b.displayOrder || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** The position after all existing items. */
export const getNextDisplayOrder = (placed: readonly OrderedItem[]): number =>
  placed.reduce((last, { displayOrder }) => Math.max(last, displayOrder), -1) + 1

/** Renumbers all items from 0. The listed ones, in their new order, exchange their positions. */
export function reorderItems(placed: readonly OrderedItem[], ids: readonly string[]): OrderedItem[] {
  const listed = new Set(ids)
  const next = ids[Symbol.iterator]()
  return placed
    .toSorted(compareDisplayOrder)
    .map(({ id }, displayOrder) => ({ id: listed.has(id) ? next.next().value! : id, displayOrder }))
}

/** Renumbers all items from 0: the listed ones in their order, then the others in theirs. */
export function arrangeItems(placed: readonly OrderedItem[], ids: readonly string[]): OrderedItem[] {
  const rank = new Map(ids.map((id, index) => [id, index]))
  const getRank = ({ id }: OrderedItem) => rank.get(id) ?? ids.length
  return placed
    .toSorted((a, b) => getRank(a) - getRank(b) || compareDisplayOrder(a, b))
    .map(({ id }, displayOrder) => ({ id, displayOrder }))
}
