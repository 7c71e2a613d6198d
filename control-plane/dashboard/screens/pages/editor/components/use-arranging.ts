import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
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
export type Arranging = {
  /** the element that contains the items */
  list: RefObject<HTMLDivElement | null>
  isBusy: boolean
  error: OperationError | null
  /** what was moved last, for screen readers */
  announcement: string
  move(id: string, name: string, step: Step): void
  drop(id: string, name: string, place: DropPlace): void
}

export function useArranging(pageId: string, items: readonly PageItem[]): Arranging {
  const { execute } = useFrame()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<OperationError | null>(null)
  const [announcement, setAnnouncement] = useState('')
  const list = useRef<HTMLDivElement>(null)
  const focused = useRef<string | null>(null)
  // an element that moves in the page loses the focus
  useEffect(() => {
    if (isBusy || focused.current === null) return
    const button = list.current?.querySelector<HTMLButtonElement>(`[id="${focused.current}"]`)
    const other = button?.parentElement?.querySelector<HTMLButtonElement>('button:not(:disabled)')
    ;(button?.disabled ? other : button)?.focus()
    focused.current = null
  }, [isBusy])

  const store = async (work: () => Promise<Outcome<unknown>>, done: string) => {
    if (isBusy) return
    setBusy(true)
    setError(null)
    const outcome = await work()
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
      focused.current = toMoveId(id, step)
      void store(() => reorder(order), describe(name, id, order, findItemGroup(items, id)))
    },
    drop(id, name, place) {
      const plan = planDrop(items, id, place)
      if (!plan) return
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

/** The id of the button that moves an item. */
export const toMoveId = (id: string, step: Step): string =>
  `move-${step === -1 || step === 'first' ? 'up' : 'down'}-${id}`
