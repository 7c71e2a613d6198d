import { formatDuration, formatTime } from '../../core/format.ts'
import type { OperationResponse } from '../../core/operations.ts'
import { ChartTable, type Column } from './chart-table.tsx'

type Days = OperationResponse<'listAnalyticsStrips'>['data'][number]['days']
/** `status` null: nothing is known about the day */
type Day = { date: string; status: Days['status'][number]; downSeconds: number | null }

const DAY_MS = 86_400_000
const [STEP, WIDTH, HEIGHT] = [10, 8, 34]
const WORDS = { up: 'up', degraded: 'degraded', down: 'down', maintenance: 'maintenance' }

/** Of a day: `2 min 10 s down`, or its worst status. */
const formatDay = ({ status, downSeconds }: Day) => {
  if (status === null) return 'nothing known'
  return downSeconds ? `${formatDuration(downSeconds * 1_000)} down` : WORDS[status]
}

const COLUMNS: readonly Column<Day>[] = [
  { name: 'Day (UTC)', show: ({ date }) => formatTime(date, 'UTC', 'date') },
  { name: 'Status', show: formatDay },
]

/** The last 90 days, one bar each. The height says how bad a day was, so it can be read without colour. */
export function DayBars({ days, from }: { days: Days; from: string }) {
  const dated = days.status.map((status, i) => ({
    date: new Date(Date.parse(from) + i * DAY_MS).toISOString(),
    status,
    downSeconds: days.down_seconds[i] ?? null,
  }))
  const troubled = dated.filter(({ status }) => status === 'down' || status === 'degraded')
  return (
    <figure>
      <svg
        class="days"
        viewBox={`0 0 ${dated.length * STEP - (STEP - WIDTH)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${dated.length} days, ${troubled.length} with trouble`}
      >
        {dated.map((day, i) => (
          <DayBar key={day.date} x={i * STEP} day={day} />
        ))}
      </svg>
      <ChartTable rows={dated.toReversed()} columns={COLUMNS} keyOf={({ date }) => date} />
    </figure>
  )
}

function DayBar({ x, day }: { x: number; day: Day }) {
  const status = day.status ?? 'none'
  const top = status === 'none' ? HEIGHT - 2 : status === 'up' ? 10 : status === 'down' ? 0 : 5
  return (
    <rect class={status} x={x} y={top} width={WIDTH} height={HEIGHT - top}>
      <title>{`${formatTime(day.date, 'UTC', 'date')}: ${formatDay(day)}`}</title>
    </rect>
  )
}
