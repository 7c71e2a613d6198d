import { compareDisplayOrder } from '../../../../../pages/core/display-order.ts'
import type { OperationResponse } from '../../../../core/operations.ts'

export type ComponentRecord = OperationResponse<'listStatusPageComponents'>['data'][number]
export type GroupRecord = OperationResponse<'listStatusPageGroups'>['data'][number]

/** A line of the list: a group with its components, or a component without a group. */
export type PageItem =
  | { kind: 'group'; id: string; group: GroupRecord; components: ComponentRecord[] }
  | { kind: 'component'; id: string; component: ComponentRecord }

const inOrder = <T extends { id: string; display_order: number }>(items: readonly T[]): T[] =>
  items.toSorted((a, b) =>
    compareDisplayOrder({ id: a.id, displayOrder: a.display_order }, { id: b.id, displayOrder: b.display_order }),
  )

/** The items of a page in the order that visitors see. */
export function buildItems(components: readonly ComponentRecord[], groups: readonly GroupRecord[]): PageItem[] {
  const known = new Set(groups.map(({ id }) => id))
  const alone = components.filter(({ group_id: group }) => group === null || !known.has(group))
  return inOrder([...groups, ...alone]).map(item =>
    'is_collapsed' in item
      ? {
          ...{ kind: 'group', id: item.id, group: item },
          components: inOrder(components.filter(({ group_id: group }) => group === item.id)),
        }
      : { kind: 'component', id: item.id, component: item },
  )
}

/** The ids that share an order: those of a group, or of the page itself (null). */
export function listSiblings(items: readonly PageItem[], groupId: string | null): string[] {
  if (groupId === null) return items.map(({ id }) => id)
  const found = items.find(item => item.id === groupId)
  return found?.kind === 'group' ? found.components.map(({ id }) => id) : []
}

/** The group of an item; null for items of the page itself. */
export const findItemGroup = (items: readonly PageItem[], id: string): string | null =>
  items.find(item => item.kind === 'group' && item.components.some(component => component.id === id))?.id ?? null

/** One step up or down, or to an end of the list. */
export type Step = -1 | 1 | 'first' | 'last'

/** The new order of the siblings when an item moves; null when it is there already. */
export function moveStep(items: readonly PageItem[], id: string, step: Step): string[] | null {
  const siblings = listSiblings(items, findItemGroup(items, id))
  const from = siblings.indexOf(id)
  const to = step === 'first' ? 0 : step === 'last' ? siblings.length - 1 : from + step
  if (from === -1 || to === from || siblings[to] === undefined) return null
  return siblings.toSpliced(from, 1).toSpliced(to, 0, id)
}

/** Where an item is dropped. `beforeId` null: at the end. */
export type DropPlace = { groupId: string | null; beforeId: string | null }

/** What a drop changes: the group of the item, if it is another one, and the order there. Null when nothing changes. */
export function planDrop(
  items: readonly PageItem[],
  id: string,
  { groupId, beforeId }: DropPlace,
): { isOtherGroup: boolean; order: string[] } | null {
  const isGroup = items.some(item => item.id === id && item.kind === 'group')
  if (beforeId === id || (isGroup && groupId !== null)) return null
  const before = listSiblings(items, groupId)
  const others = before.filter(one => one !== id)
  const at = beforeId === null ? others.length : others.indexOf(beforeId)
  const order = others.toSpliced(at === -1 ? others.length : at, 0, id)
  const isOtherGroup = findItemGroup(items, id) !== groupId
  return !isOtherGroup && order.join() === before.join() ? null : { isOtherGroup, order }
}
