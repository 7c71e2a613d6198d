import type { BoardRow } from '../../core/board/board-row.ts'
import { formatDuration, formatMs } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import { Status } from '../status.tsx'
import { Strip } from '../strip.tsx'
import { type DayHistory, DayStrip } from './day-strip.tsx'
import { useGradualRows } from './gradual-rows.ts'

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
export const MonitorTable = ({ rows, total, label, selection, strips }: TableProps) => (
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

const TableRows = ({ rows, ...props }: Pick<TableProps, 'rows' | 'selection' | 'strips'>) => (
  <>
    {useGradualRows(rows).map((row, i) => (
      <MonitorRow key={row.id} row={row} index={i + 2} {...props} />
    ))}
  </>
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

type RowProps = { row: BoardRow; index: number } & Pick<TableProps, 'selection' | 'strips'>

function MonitorRow({ row, index, selection, strips }: RowProps) {
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
      {strips && <Day strip={strips.get(row.id)} />}
      <td class="number soft">{row.sinceMs !== null && formatDuration(nowMs - row.sinceMs)}</td>
    </tr>
  )
}

/** The last 24 hours; empty until they are read. */
const Day = ({ strip }: { strip: DayHistory | undefined }) => (
  <>
    <td class="aside of-day">{strip && <DayStrip strip={strip} />}</td>
    <td class="aside number soft">{strip && strip.p95_ms !== null && formatMs(strip.p95_ms)}</td>
  </>
)
