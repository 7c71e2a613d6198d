import { formatDuration, formatTime } from '../../core/format.ts'
import type { OperationResponse } from '../../core/operations.ts'
import { ChartTable, type Column } from './chart-table.tsx'

type Day = OperationResponse<'listAnalyticsStrips'>['data'][number]['days'][number]
type DatedDay = { date: string; day: Day }

const DAY_MS = 86_400_000
const [STEP, WIDTH, HEIGHT] = [10, 8, 34]
const WORDS = { up: 'up', degraded: 'degraded', down: 'down', maintenance: 'maintenance' }

/** Of a day: `2 min 10 s down`, or its worst status. */
const formatDay = (day: Day) => {
  if (day === null) return 'nothing known'
  return day.down_seconds > 0 ? `${formatDuration(day.down_seconds * 1_000)} down` : WORDS[day.status]
}

const COLUMNS: readonly Column<DatedDay>[] = [
  { name: 'Day (UTC)', show: ({ date }) => formatTime(date, 'UTC', 'date') },
  { name: 'Status', show: ({ day }) => formatDay(day) },
]

/** The last 90 days, one bar each. The height says how bad a day was, so it can be read without colour. */
export function DayBars({ days, from }: { days: readonly Day[]; from: string }) {
  const dated = days.map((day, i) => ({ date: new Date(Date.parse(from) + i * DAY_MS).toISOString(), day }))
  const troubled = dated.filter(({ day }) => day?.status === 'down' || day?.status === 'degraded')
  return (
    <figure>
      <svg
        class="days"
        viewBox={`0 0 ${days.length * STEP - (STEP - WIDTH)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${days.length} days, ${troubled.length} with trouble`}
      >
        {dated.map(({ date, day }, i) => (
          <DayBar key={date} x={i * STEP} day={day} title={`${formatTime(date, 'UTC', 'date')}: ${formatDay(day)}`} />
        ))}
      </svg>
      <ChartTable rows={dated.toReversed()} columns={COLUMNS} keyOf={({ date }) => date} />
    </figure>
  )
}

function DayBar({ x, day, title }: { x: number; day: Day; title: string }) {
  const status = day?.status ?? 'none'
  const top = status === 'none' ? HEIGHT - 2 : status === 'up' ? 10 : status === 'down' ? 0 : 5
  return (
    <rect class={status} x={x} y={top} width={WIDTH} height={HEIGHT - top}>
      <title>{title}</title>
    </rect>
  )
}
