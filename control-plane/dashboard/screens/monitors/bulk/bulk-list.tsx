import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatCount, formatNumber } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { useLazyPart } from '../../../parts/layout/lazy-part.tsx'
import type { RowSelection } from '../../../parts/monitors/monitor-table.tsx'
import { UNDO_MS } from '../../../parts/monitors/undo-time.ts'
import type { BulkAction } from './change-dialog.tsx'
import type { BulkResult } from './change-words.ts'
import { Outcome } from './outcome.tsx'
import { addRows, NOTHING_SELECTED, type Selection, toggleRange, toggleRow, toggleShown } from './selection.ts'

/** The most monitors of one change. */
const MAX_SELECTED = 10_000

type Finished = { result: BulkResult; channels: ReadonlyMap<string, string>; untilMs: number }

const loadDialog = async () => (await import('./change-dialog.tsx')).ChangeDialog

/** The rows of the list with check boxes, and what can be done with those that are selected. */
export function BulkList({
  order,
  matching,
  text,
  empty,
  children,
}: {
  /** the ids of the rows that are shown */
  order: readonly string[]
  matching: number
  /** the query */
  text: string
  /** instead of no rows */
  empty: ComponentChildren
  /** the rows */
  children(selection: RowSelection): ComponentChildren
}) {
  const { nowMs, findMonitors } = useFrame()
  const [selection, setSelection] = useState<Selection>(NOTHING_SELECTED)
  const [opened, open] = useState<{ action: BulkAction; ids: readonly string[] } | null>(null)
  const [finished, finish] = useState<Finished | null>(null)
  const ChangeDialog = useLazyPart(loadDialog, opened !== null && opened.ids.length > 0)
  const selected = [...selection.ids]
  const list = useListKeys({
    toggle: id => setSelection(current => toggleRow(current, id)),
    start: (action, id) => open({ action, ids: selected.length > 0 ? selected : [id].filter(one => one !== null) }),
  })
  const selectMatching = async () => {
    const found = await findMonitors({ text, limit: MAX_SELECTED })
    const ids = found?.rows.map(({ id }) => id) ?? []
    setSelection(current => addRows(current, ids))
  }
  return (
    <div ref={list}>
      {matching === 0
        ? empty
        : children({
            ids: selection.ids,
            toggle: (id, isRange) =>
              setSelection(isRange ? toggleRange(selection, order, id) : toggleRow(selection, id)),
            toggleAll: ids => setSelection(toggleShown(selection, ids)),
          })}
      {finished && (
        <Outcome
          {...finished}
          canUndo={nowMs < finished.untilMs}
          onUndone={result => finish({ ...finished, result: { ...result, undo: null } })}
          onClose={() => finish(null)}
        />
      )}
      {selected.length > 0 && (
        <BulkBar
          count={selected.length}
          matching={matching}
          onAction={action => open({ action, ids: selected })}
          onAll={selectMatching}
          onClear={() => setSelection(NOTHING_SELECTED)}
        />
      )}
      {opened && ChangeDialog && (
        <ChangeDialog
          {...opened}
          onClose={() => open(null)}
          onDone={(result, channels) => {
            open(null)
            setSelection(NOTHING_SELECTED)
            finish({ result, channels, untilMs: nowMs + UNDO_MS })
          }}
        />
      )}
    </div>
  )
}

const ACTIONS: readonly (readonly [BulkAction, string])[] = [
  ['pause', 'Pause'],
  ['resume', 'Resume'],
  ['silence', 'Silence…'],
  ['change', 'Change…'],
  ['delete', 'Delete…'],
]

const BulkBar = ({
  count,
  matching,
  onAction,
  onAll,
  onClear,
}: {
  count: number
  matching: number
  onAction(action: BulkAction): void
  onAll(): void
  onClear(): void
}) => (
  <section class="bulk-bar" aria-label="Selected monitors">
    <p role="status">{formatCount(count, 'monitor')} selected</p>
    {count > MAX_SELECTED && <p class="wrong">At most {formatNumber(MAX_SELECTED)} can change at once.</p>}
    <button type="button" class="plain" onClick={onClear}>
      Clear
    </button>
    {count < matching && (
      <button type="button" class="plain" onClick={onAll}>
        Select all {formatNumber(Math.min(matching, MAX_SELECTED))} that match
      </button>
    )}
    <div class="actions">
      {ACTIONS.map(([action, name]) => (
        <button key={action} type="button" disabled={count > MAX_SELECTED} onClick={() => onAction(action)}>
          {name}
        </button>
      ))}
    </div>
  </section>
)

/**
 * The keys of the list. The row with the focus is the current one, so Enter opens its link. Returns the reference for the
 * element around the table.
 */
function useListKeys({
  toggle,
  start,
}: {
  toggle(id: string): void
  start(action: BulkAction, id: string | null): void
}) {
  const { keys } = useFrame()
  const list = useRef<HTMLDivElement>(null)
  const actions = useRef({ toggle, start })
  actions.current = { toggle, start }
  useEffect(() => {
    const page = list.current?.ownerDocument
    const findCurrent = () => {
      const row = page?.activeElement?.closest<HTMLElement>('tr[data-id]')
      return row && list.current?.contains(row) ? row : null
    }
    const move = (step: 1 | -1) => {
      const links = [...(list.current?.querySelectorAll<HTMLElement>('a.row') ?? [])]
      const at = links.findIndex(link => link.closest('tr') === findCurrent())
      const next = at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step
      links[next]?.focus()
    }
    return keys.bind({
      j: () => move(1),
      k: () => move(-1),
      x: () => {
        const id = findCurrent()?.dataset.id
        if (id) actions.current.toggle(id)
      },
      p: () => actions.current.start('pause', findCurrent()?.dataset.id ?? null),
      m: () => actions.current.start('silence', findCurrent()?.dataset.id ?? null),
      '/': () => page?.getElementById('filter')?.focus(),
    })
  }, [keys])
  return list
}
