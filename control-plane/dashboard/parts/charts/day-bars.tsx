import { formatCount, formatDuration, formatTime } from '../../core/format.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Mark } from './axes.tsx'
import { ChartTable, type Column } from './chart-table.tsx'

type Days = OperationResponse<'listAnalyticsStrips'>['data'][number]['days']
/** `status` null: nothing is known about the day */
type Day = { date: string; status: Days['status'][number]; downSeconds: number | null; changes: Mark[] }

const DAY_MS = 86_400_000
const [STEP, WIDTH, HEIGHT] = [10, 8, 34]
/** Of the row of dots below the bars. */
const DOTS_HEIGHT = 6
const WORDS = { up: 'up', degraded: 'degraded', down: 'down', maintenance: 'maintenance' }

/** Of a day: `2 min 10 s down`, or its worst status. */
const formatDay = ({ status, downSeconds }: Day) => {
  if (status === null) return 'nothing known'
  return downSeconds ? `${formatDuration(downSeconds * 1_000)} down` : WORDS[status]
}

/** What was changed on a day. */
const formatChanges = ({ changes }: Day) => changes.map(({ text }) => text).join('; ')

const COLUMNS: readonly Column<Day>[] = [
  { name: 'Day (UTC)', show: ({ date }) => formatTime(date, 'UTC', 'date') },
  { name: 'Status', show: formatDay },
]
const CHANGES_COLUMN: Column<Day> = { name: 'Changes', show: day => <bdi>{formatChanges(day)}</bdi> }

/**
 * The last 90 days, one bar each. The height says how bad a day was, so it can be read without colour. A dot below
 * a day says that the settings of the monitor or its alert rules were changed.
 */
export function DayBars({ days, from, changes }: { days: Days; from: string; changes: readonly Mark[] }) {
  const dated = days.status.map((status, i) => {
    const startMs = Date.parse(from) + i * DAY_MS
    const ofDay = changes.filter(({ fromMs }) => fromMs >= startMs && fromMs < startMs + DAY_MS)
    return {
      ...{ date: new Date(startMs).toISOString(), status, downSeconds: days.down_seconds[i] ?? null },
      changes: ofDay,
    }
  })
  const troubled = dated.filter(({ status }) => status === 'down' || status === 'degraded')
  return (
    <figure>
      <svg
        class="days"
        viewBox={`0 0 ${dated.length * STEP - (STEP - WIDTH)} ${HEIGHT + DOTS_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${dated.length} days, ${troubled.length} with trouble${describeChanges(changes.length)}`}
      >
        {dated.map((day, i) => (
          <DayBar key={day.date} x={i * STEP} day={day} />
        ))}
      </svg>
      <ChartTable
        rows={dated.toReversed()}
        columns={changes.length > 0 ? [...COLUMNS, CHANGES_COLUMN] : COLUMNS}
        getKey={({ date }) => date}
      />
    </figure>
  )
}

const describeChanges = (count: number) =>
  count === 0 ? '' : `, ${formatCount(count, 'change')} of settings and alert rules`

function DayBar({ x, day }: { x: number; day: Day }) {
  const status = day.status ?? 'none'
  const top = status === 'none' ? HEIGHT - 2 : status === 'up' ? 10 : status === 'down' ? 0 : 5
  return (
    <g>
      <rect class={status} x={x} y={top} width={WIDTH} height={HEIGHT - top}>
        <title>{`${formatTime(day.date, 'UTC', 'date')}: ${formatDay(day)}`}</title>
      </rect>
      {day.changes.length > 0 && (
        <rect class="change" x={x + 1} y={HEIGHT + 2} width={WIDTH - 2} height={DOTS_HEIGHT - 2}>
          <title>{formatChanges(day)}</title>
        </rect>
      )}
    </g>
  )
}
