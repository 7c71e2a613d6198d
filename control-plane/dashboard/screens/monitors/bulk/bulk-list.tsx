import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { BoardRow } from '../../../core/board/board-row.ts'
import { formatCount, formatNumber } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { useLazyPart } from '../../../parts/layout/lazy-part.tsx'
import { MAX_WINDOW_MONITORS, toWindowAddress } from '../../../parts/monitors/chosen-monitors.ts'
import type { RowSelection } from '../../../parts/monitors/monitor-table.tsx'
import { UNDO_MS } from '../../../parts/monitors/undo-time.ts'
import { CheckProgress } from '../checks/check-progress.tsx'
import { type CheckRun, useRequestedCheck } from '../checks/requested-check.ts'
import { useEditorKeys } from '../list/list-keys.ts'
import type { BulkAction } from './change-dialog.tsx'
import type { BulkResult } from './change-words.ts'
import { Outcome } from './outcome.tsx'
import { addRows, NOTHING_SELECTED, type Selection, toggleRange, toggleRow, toggleShown } from './selection.ts'

/** The most monitors of one change. */
const MAX_SELECTED = 10_000

type FinishedChange = { result: BulkResult; channels: ReadonlyMap<string, string>; untilMs: number }

const loadDialog = async () => (await import('./change-dialog.tsx')).ChangeDialog

/** The rows of the list with check boxes, and what can be done with those that are selected. */
export function BulkList({
  rows,
  order,
  matching,
  text,
  empty,
  children,
}: {
  /** the rows that are shown, and their ids in this order */
  rows: readonly BoardRow[]
  order: readonly string[]
  matching: number
  /** the query */
  text: string
  /** instead of no rows */
  empty: ComponentChildren
  children(selection: RowSelection): ComponentChildren
}) {
  const { nowMs, findMonitors } = useFrame()
  const [selection, setSelection] = useState<Selection>(NOTHING_SELECTED)
  const [opened, open] = useState<{ action: BulkAction; ids: readonly string[] } | null>(null)
  const [finished, finish] = useState<FinishedChange | null>(null)
  const ChangeDialog = useLazyPart(loadDialog, opened !== null && opened.ids.length > 0)
  const selected = [...selection.ids]
  const { check, start, close } = useRequestedCheck()
  const list = useEditorKeys({
    toggle: id => setSelection(current => toggleRow(current, id)),
    change: (action, id) => open({ action, ids: selected.length > 0 ? selected : [id].filter(one => one !== null) }),
    check: id => {
      const row = rows.find(one => one.id === id)
      if (row) void start({ id, name: row.name, regions: row.bars.map(({ name }) => name) })
    },
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
      <CheckOutcome check={check} onClose={close} />
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
          ids={selected}
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

/** The result of a check that was requested by a key. */
const CheckOutcome = ({ check, onClose }: { check: CheckRun | null; onClose(): void }) => (
  <div class={check ? 'outcome of-check' : undefined}>
    <CheckProgress check={check} />
    {check && check.state !== 'running' && (
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    )}
  </div>
)

const ACTIONS: readonly (readonly [BulkAction, string])[] = [
  ['pause', 'Pause'],
  ['resume', 'Resume'],
  ['silence', 'Silence…'],
  ['change', 'Change…'],
]

function BulkBar({
  ids,
  matching,
  onAction,
  onAll,
  onClear,
}: {
  ids: readonly string[]
  matching: number
  onAction(action: BulkAction): void
  onAll(): void
  onClear(): void
}) {
  const { navigate, nowMs } = useFrame()
  const count = ids.length
  const isTooMany = count > MAX_SELECTED
  const hint = 'window-limit'
  return (
    <section class="bulk-bar" aria-label="Selected monitors">
      <p role="status">{formatCount(count, 'monitor')} selected</p>
      {isTooMany && <p class="wrong">At most {formatNumber(MAX_SELECTED)} can change at once.</p>}
      {count > MAX_WINDOW_MONITORS && !isTooMany && (
        <p class="soft" id={hint}>
          A maintenance window has at most {formatNumber(MAX_WINDOW_MONITORS)} monitors.
        </p>
      )}
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
          <button key={action} type="button" disabled={isTooMany} onClick={() => onAction(action)}>
            {name}
          </button>
        ))}
        <button
          type="button"
          disabled={count > MAX_WINDOW_MONITORS}
          aria-describedby={hint}
          onClick={() => navigate(toWindowAddress(ids, nowMs))}
        >
          Maintenance…
        </button>
        <button type="button" disabled={isTooMany} onClick={() => onAction('delete')}>
          Delete…
        </button>
      </div>
    </section>
  )
}
