import type { BoardRow } from '../../core/board.ts'
import { formatDuration } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import { Status } from '../status.tsx'
import { Strip } from '../strip.tsx'

/** Which rows of a table are selected. Without it, nothing can be selected. */
type RowSelection = {
  ids: ReadonlySet<string>
  /** `isRange`: with all rows from the one that was selected before */
  toggle(id: string, isRange: boolean): void
  toggleAll(): void
}

type TableProps = { rows: readonly BoardRow[]; total: number; label: string; selection?: RowSelection }

/** Monitors as rows: votes, name, status, cause. `total`: of the whole list, if the table shows a part of it. */
export const MonitorTable = ({ rows, total, label, selection }: TableProps) => (
  <table class={`rows monitors${selection ? ' selectable' : ''}`} aria-label={label} aria-rowcount={total + 1}>
    <thead>
      <tr>
        {selection && (
          <th scope="col" class="pick">
            <Pick
              label="Select all rows that are shown"
              isPicked={rows.every(({ id }) => selection.ids.has(id))}
              onPick={selection.toggleAll}
            />
          </th>
        )}
        <th scope="col">Regions</th>
        <th scope="col">Monitor</th>
        <th scope="col">Status</th>
        <th scope="col">Cause</th>
        <th scope="col">Tags</th>
        <th scope="col" class="number">
          For
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row, i) => (
        <MonitorRow key={row.id} row={row} index={i + 2} selection={selection} />
      ))}
    </tbody>
  </table>
)

function Pick({ label, isPicked, onPick }: { label: string; isPicked: boolean; onPick(isRange: boolean): void }) {
  const { isInteractive } = useFrame()
  return (
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
}

function MonitorRow({ row, index, selection }: { row: BoardRow; index: number; selection?: RowSelection }) {
  const { nowMs } = useFrame()
  const isPicked = selection?.ids.has(row.id) === true
  return (
    <tr aria-rowindex={index} data-id={row.id} class={isPicked ? 'picked' : undefined}>
      {selection && (
        <td class="pick">
          <Pick
            label={`Select ${row.name}`}
            isPicked={isPicked}
            onPick={isRange => selection.toggle(row.id, isRange)}
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
      <td class="number soft">{row.sinceMs !== null && formatDuration(nowMs - row.sinceMs)}</td>
    </tr>
  )
}
