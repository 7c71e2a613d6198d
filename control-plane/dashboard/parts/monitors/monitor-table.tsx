import type { BoardRow } from '../../core/board.ts'
import { formatDuration } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import { Status } from '../status.tsx'
import { Strip } from '../strip.tsx'

/** Monitors as rows: votes, name, status, cause. `total`: of the whole list, if the table shows a part of it. */
export const MonitorTable = ({ rows, total, label }: { rows: readonly BoardRow[]; total: number; label: string }) => (
  <table class="rows monitors" aria-label={label} aria-rowcount={total + 1}>
    <thead>
      <tr>
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
        <MonitorRow key={row.id} row={row} index={i + 2} />
      ))}
    </tbody>
  </table>
)

function MonitorRow({ row, index }: { row: BoardRow; index: number }) {
  const { nowMs } = useFrame()
  return (
    <tr aria-rowindex={index} data-id={row.id}>
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
