import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useFrame } from '../../../../core/frame-context.ts'
import type { OperationError, Outcome } from '../../../../core/operations.ts'
import {
  type DropPlace,
  findItemGroup,
  listSiblings,
  moveStep,
  type PageItem,
  planDrop,
  type Step,
} from './arrangement.ts'

/** Moves items of a page by keys and by dragging. One change at a time. */
export type Arrangement = {
  /** the element that contains the items */
  list: RefObject<HTMLDivElement | null>
  isBusy: boolean
  error: OperationError | null
  /** what was moved last, for screen readers */
  announcement: string
  move(id: string, name: string, step: Step): void
  drop(id: string, name: string, place: DropPlace): void
}

export function useArranging(pageId: string, items: readonly PageItem[]): Arrangement {
  const { execute, whenRefreshed } = useFrame()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<OperationError | null>(null)
  const [announcement, setAnnouncement] = useState('')
  const list = useRef<HTMLDivElement>(null)
  const moved = useRef<MovedItem | null>(null)
  useLayoutEffect(() => {
    if (isBusy || moved.current === null || list.current === null) return
    const { buttonId, groupId, order } = moved.current
    const shown = listSiblings(items, groupId).filter(id => order.includes(id))
    // an element that moves in the page loses the focus, and the new order may be shown only some renders later
    const isElsewhere = !focusButton(list.current, buttonId)
    if (error || isElsewhere || shown.join() === order.join()) moved.current = null
  })

  const store = async (work: () => Promise<Outcome<unknown>>, done: string) => {
    if (isBusy) return
    setBusy(true)
    setError(null)
    const outcome = await work()
    // a move from the previous order would undo this one
    await whenRefreshed()
    if ('error' in outcome) setError(outcome.error)
    else setAnnouncement(done)
    setBusy(false)
  }
  const reorder = (ids: string[]) =>
    execute('orderStatusPageComponents', { path: { id: pageId }, body: { component_ids: ids } })
  const describe = (name: string, id: string, order: string[], group: string | null) => {
    const found = items.find(item => item.id === group)
    const where = found?.kind === 'group' ? ` in ${found.group.name}` : ''
    return `${name} is now ${order.indexOf(id) + 1} of ${order.length}${where}.`
  }
  return {
    ...{ list, isBusy, error, announcement },
    move(id, name, step) {
      const order = moveStep(items, id, step)
      if (!order) return
      const groupId = findItemGroup(items, id)
      moved.current = { buttonId: toMoveId(id, step), groupId, order }
      void store(() => reorder(order), describe(name, id, order, groupId))
    },
    drop(id, name, place) {
      const plan = planDrop(items, id, place)
      if (!plan) return
      moved.current = null
      const { groupId } = place
      const path = { id: pageId, cid: id }
      void store(
        async () => {
          const moved = plan.isOtherGroup
            ? await execute('updateStatusPageComponent', { path, body: { group_id: groupId } })
            : null
          if (moved && 'error' in moved) return moved
          return listSiblings(items, groupId).length === 0 ? { data: moved } : reorder(plan.order)
        },
        describe(name, id, plan.order, groupId),
      )
    },
  }
}

/** A move by a key, whose button gets the focus back. `order`: what the list shows in the end. */
type MovedItem = { buttonId: string; groupId: string | null; order: string[] }

/** Focuses a button that moves an item, or the other one when it is disabled. False when the person works elsewhere. */
function focusButton(list: HTMLElement, id: string): boolean {
  const { activeElement, body } = list.ownerDocument
  const button = list.querySelector<HTMLButtonElement>(`[id="${id}"]`)
  const other = button?.parentElement?.querySelector<HTMLButtonElement>('button:not(:disabled)')
  const isHere = [null, body, button, other].includes(activeElement as HTMLButtonElement | null)
  if (isHere) (button?.disabled ? other : button)?.focus()
  return isHere
}

/** The id of the button that moves an item. */
export const toMoveId = (id: string, step: Step): string =>
  `move-${step === -1 || step === 'first' ? 'up' : 'down'}-${id}`
