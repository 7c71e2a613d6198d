import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import type { ComponentRecord, GroupRecord } from './arrangement.ts'
import { ComponentForm } from './component-form.tsx'
import { GroupForm } from './group-form.tsx'
import { type Arrangement, toMoveId } from './use-arranging.ts'

const STATUS_WORDS: Record<ComponentRecord['status'], string> = {
  operational: 'Operational',
  degraded: 'Degraded',
  outage: 'Outage',
  unknown: 'Unknown',
}

type ItemRowProps = {
  pageId: string
  item: ComponentRecord | GroupRecord
  groups: readonly GroupRecord[]
  /** the group in which the row is */
  groupId: string | null
  /** the position among the items around it */
  place: { at: number; count: number; nextId: string | undefined }
  arranging: Arrangement
  draggedId: string | null
  setDragged(id: string | null): void
  openId: string | null
  setOpen(id: string | null): void
  findName(id: string): string
  /** the components of a group */
  children?: ComponentChildren
}

/** A component or a group: its name and status, buttons that move it, and its settings when they are open. */
export function ItemRow(props: ItemRowProps) {
  const { pageId, item, groups, draggedId, openId, setOpen, children } = props
  const { me } = useFrame()
  const { isTarget, ...handlers } = useDragging(props)
  const isGroup = 'is_collapsed' in item
  const isOpen = openId === item.id
  const close = () => setOpen(null)
  return (
    <li class={isGroup ? 'page-group' : undefined}>
      <div
        class={`page-item${isTarget ? ' target' : ''}${draggedId === item.id ? ' dragged' : ''}`}
        draggable={canWrite(me) && !isOpen}
        {...handlers}
      >
        <div>
          <b dir="auto">{item.name}</b>{' '}
          <span class="soft small">
            {isGroup
              ? 'Group'
              : `${STATUS_WORDS[item.status] ?? item.status}${item.monitor_id === null ? ', set by hand' : ''}`}
          </span>
        </div>
        {canWrite(me) && <RowButtons {...props} />}
      </div>
      {isOpen &&
        (isGroup ? (
          <GroupForm pageId={pageId} group={item} onDone={close} />
        ) : (
          <ComponentForm pageId={pageId} component={item} groups={groups} onDone={close} />
        ))}
      {children}
    </li>
  )
}

/** What dragging an item to the row does: the upper half is the place before it, the lower half the place after it. */
function useDragging({ item, groups, groupId, place, arranging, draggedId, setDragged, findName }: ItemRowProps) {
  const [isOver, setOver] = useState(false)
  const mayDrop = draggedId !== null && draggedId !== item.id
  const findPlace = (isUpper: boolean) => {
    // a component that is dropped on a group joins it
    const isJoining = 'is_collapsed' in item && groups.every(({ id }) => id !== draggedId)
    if (isJoining) return { groupId: item.id, beforeId: null }
    if (isUpper) return { groupId, beforeId: item.id }
    return { groupId, beforeId: place.nextId ?? null }
  }
  return {
    isTarget: isOver && mayDrop,
    onDragStart(event: DragEvent) {
      event.dataTransfer?.setData('text/plain', item.name)
      setDragged(item.id)
    },
    onDragEnd: () => setDragged(null),
    onDragOver(event: DragEvent) {
      if (!mayDrop) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault()
      setOver(false)
      if (!mayDrop) return
      const { top, height } = (event.currentTarget as HTMLElement).getBoundingClientRect()
      arranging.drop(draggedId, findName(draggedId), findPlace(event.clientY < top + height / 2))
      setDragged(null)
    },
  }
}

/** Keys at the buttons that move an item over a long list. */
const ENDS: Record<string, 'first' | 'last' | undefined> = { Home: 'first', End: 'last' }

function RowButtons({ item, place, arranging, openId, setOpen }: ItemRowProps) {
  const { isInteractive, mayLeave } = useFrame()
  const isOpen = openId === item.id
  const toggle = () => {
    if (openId === null || mayLeave('form')) setOpen(isOpen ? null : item.id)
  }
  return (
    <div class="actions">
      {([-1, 1] as const).map(step => (
        <button
          key={step}
          id={toMoveId(item.id, step)}
          type="button"
          class="move"
          title={step === -1 ? 'Move up; Home moves to the top' : 'Move down; End moves to the bottom'}
          disabled={!isInteractive || arranging.isBusy || place.at === (step === -1 ? 0 : place.count - 1)}
          onClick={() => arranging.move(item.id, item.name, step)}
          onKeyDown={event => {
            const end = ENDS[event.key]
            if (!end) return
            event.preventDefault()
            arranging.move(item.id, item.name, end)
          }}
        >
          <span aria-hidden="true">{step === -1 ? '↑' : '↓'}</span>
          <span class="hidden">
            Move <bdi>{item.name}</bdi> {step === -1 ? 'up' : 'down'}
          </span>
        </button>
      ))}
      <button type="button" aria-expanded={isOpen} disabled={!isInteractive} onClick={toggle}>
        Edit
        <span class="hidden">
          {' '}
          <bdi>{item.name}</bdi>
        </span>
      </button>
    </div>
  )
}
