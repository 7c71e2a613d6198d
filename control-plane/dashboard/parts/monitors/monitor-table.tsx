import { useCallback, useMemo, useRef } from 'preact/hooks'
import { useGradualRows } from '../../browser/list/gradual-rows.ts'
import type { BoardRow } from '../../core/board/board-row.ts'
import { formatDuration, formatMs, formatTime } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import { Status } from '../status.tsx'
import { Strip } from '../strip.tsx'
import { type DayHistory, DayStrip } from './day-strip.tsx'

/** Which rows of a table are selected. Without it, nothing can be selected. */
export type RowSelection = {
  ids: ReadonlySet<string>
  /** `isRange`: with all rows from the one that was selected before */
  toggle(id: string, isRange: boolean): void
  /** all of these, or none of them if all are selected */
  toggleAll(ids: readonly string[]): void
}

type TableProps = {
  rows: readonly BoardRow[]
  total: number
  label: string
  selection?: RowSelection
  /** the last 24 hours by id; without it, they have no columns */
  strips?: ReadonlyMap<string, DayHistory>
}

/** Monitors as rows: votes, name, status, cause. `total`: of the whole list, if the table shows a part of it. */
export function MonitorTable({ rows, total, label, selection, strips }: TableProps) {
  const { isInteractive } = useFrame()
  return (
    <table
      class={`rows monitors${selection ? ' selectable' : ''}${strips ? ' with-day' : ''}`}
      aria-label={label}
      aria-rowcount={total + 1}
    >
      <thead>
        <tr>
          {selection && (
            <th scope="col" class="pick">
              <Pick
                label="Select all rows that are shown"
                isInteractive={isInteractive}
                isPicked={rows.every(({ id }) => selection.ids.has(id))}
                onPick={() => selection.toggleAll(rows.map(({ id }) => id))}
              />
            </th>
          )}
          <th scope="col">Regions</th>
          <th scope="col">Monitor</th>
          <th scope="col">Status</th>
          <th scope="col">Cause</th>
          <th scope="col">Tags</th>
          {strips && (
            <>
              <th scope="col">24 hours</th>
              <th scope="col" class="number">
                p95
              </th>
            </>
          )}
          <th scope="col" class="number">
            For
          </th>
        </tr>
      </thead>
      <tbody>
        <TableRows rows={rows} selection={selection} strips={strips} />
      </tbody>
    </table>
  )
}

/** Rows that stay as they are are not rendered again, because a list has many. */
function TableRows({ rows, selection, strips }: Pick<TableProps, 'rows' | 'selection' | 'strips'>) {
  const { nowMs, isInteractive, timeZone } = useFrame()
  const latest = useRef(selection)
  latest.current = selection
  const toggle = useCallback((id: string, isRange: boolean) => latest.current?.toggle(id, isRange), [])
  return (
    <>
      {useGradualRows(rows).map((row, i) => (
        <MonitorRow
          key={row.id}
          row={row}
          index={i + 2}
          isPicked={selection?.ids.has(row.id) ?? null}
          isInteractive={isInteractive}
          toggle={toggle}
          strip={strips && (strips.get(row.id) ?? null)}
          age={row.sinceMs === null ? null : formatDuration(nowMs - row.sinceMs)}
          silence={formatSilence(row, nowMs, timeZone)}
        />
      ))}
    </>
  )
}

type PickProps = { label: string; isPicked: boolean; isInteractive: boolean; onPick(isRange: boolean): void }

const Pick = ({ label, isPicked, isInteractive, onPick }: PickProps) => (
  <label>
    <input
      type="checkbox"
      aria-label={label}
      checked={isPicked}
      disabled={!isInteractive}
      onClick={event => onPick(event.shiftKey)}
    />
  </label>
)

type RowProps = {
  row: BoardRow
  index: number
  /** null: nothing can be selected */
  isPicked: boolean | null
  isInteractive: boolean
  toggle: RowSelection['toggle']
  /** null until it is read; undefined: the table has no such columns */
  strip: DayHistory | null | undefined
  /** how long the monitor has had its status */
  age: string | null
  /** until when its alerts are silenced; null: they are not */
  silence: string | null
}

/** `silenced until 21 Nov 2026, 14:05:00 UTC` */
function formatSilence({ silencedUntilMs: untilMs }: BoardRow, nowMs: number, timeZone: string): string | null {
  if (untilMs === null || untilMs <= nowMs) return null
  return `silenced until ${formatTime(untilMs, timeZone)}${timeZone === 'UTC' ? ' UTC' : ''}`
}

/** A row. The same properties give the same element, which is not compared again. */
const MonitorRow = ({ row, index, isPicked, isInteractive, toggle, strip, age, silence }: RowProps) =>
  useMemo(
    () => (
      <tr aria-rowindex={index} data-id={row.id} class={isPicked ? 'picked' : undefined}>
        {isPicked !== null && (
          <td class="pick">
            <Pick
              label={`Select ${row.name}`}
              isPicked={isPicked}
              isInteractive={isInteractive}
              onPick={isRange => toggle(row.id, isRange)}
            />
          </td>
        )}
        <td class="bars">
          <Strip bars={row.bars} label="Votes" />
        </td>
        <td class="name">
          <a class="row" href={`/monitors/${row.id}`} dir="auto">
            {row.name}
          </a>
          {silence !== null && <Silenced text={silence} />}
        </td>
        <td class="status nowrap">
          <Status status={row.status} />
        </td>
        <td class="cause" dir="auto">
          {row.cause}
        </td>
        <td class="aside">
          <span class="tags">
            {row.tags.map(tag => (
              <a key={tag} class="tag" href={`/monitors?q=${encodeURIComponent(`tag:"${tag}"`)}`} dir="auto">
                {tag}
              </a>
            ))}
          </span>
        </td>
        {strip !== undefined && <Day strip={strip} />}
        <td class="number soft">{age}</td>
      </tr>
    ),
    [row, index, isPicked, isInteractive, toggle, strip, age, silence],
  )

/** A bell that is struck out, with its meaning as text for screen readers and under the pointer. */
const Silenced = ({ text }: { text: string }) => (
  <span class="silenced" title={text}>
    <svg viewBox="0 0 12 12" aria-hidden="true">
      <path d="M2.5 8.5V8l.8-1V4.9a2.7 2.7 0 0 1 5.4 0V7l.8 1v.5zM5 10.3h2M1 1l10 10" />
    </svg>
    <span class="hidden">, {text}</span>
  </span>
)

/** The last 24 hours; empty until they are read. */
const Day = ({ strip }: { strip: DayHistory | null }) => (
  <>
    <td class="aside of-day">{strip && <DayStrip strip={strip} />}</td>
    <td class="aside number soft">{strip && strip.p95_ms !== null && formatMs(strip.p95_ms)}</td>
  </>
)
