import type { ComponentChildren, VNode } from 'preact'
import { pluralize } from '../../../../alerting/channels/notices/wording.ts'
import { formatDuration } from '../../../../alerting/events/duration.ts'
import type { ComponentView, DayView } from '../../../core/types.ts'
import { formatDate, formatShortDate } from '../../dates.ts'
import { DAY_LABELS, formatPercent, STATUS_LETTERS } from '../../labels.ts'
import { buildBarLabel, buildBarPaths, type DayRun, listNotableRuns } from './day-runs.ts'

type Days = { days: readonly DayView[] }

type Props = {
  component: ComponentView
  bar?: (days: Days) => VNode
  /** what is shown below the days */
  children?: ComponentChildren
}

/** The bar. When it is opened by key, touch or click, it lists the days that were not operational. */
export function Days({ component, bar: Bar = PillBar, children }: Props) {
  const { days, uptimePercent } = component
  if (!days || days.length === 0) return null
  return (
    <details class="days" data-to={days.at(-1)?.date} data-many={days.length}>
      <summary>
        <Bar days={days} />
        <span class="axis">
          <span>{days.length} days ago</span>
          {uptimePercent !== null && <span class="uptime">{formatPercent(uptimePercent)} % uptime</span>}
          <span>Today</span>
        </span>
      </summary>
      <DayList days={days} />
      {children}
    </details>
  )
}

export const PillBar = ({ days }: Days) => (
  <svg
    class="bar"
    viewBox={`0 0 ${days.length} 40`}
    preserveAspectRatio="none"
    role="img"
    aria-label={buildBarLabel(days)}
  >
    {buildBarPaths(days).map(({ sign, d }) => (
      <path class={sign} d={d} />
    ))}
  </svg>
)

export function DayList({ days }: Days) {
  const runs = listNotableRuns(days)
  const listed = runs.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is read by keys, also in browsers that focus no such list
    <ul class="day-list" tabIndex={0}>
      {runs.map(run => (
        <DayLine days={days} run={run} />
      ))}
      {listed < days.length && (
        <li class="rest">{listed === 0 ? 'Operational on every day.' : 'All other days: operational.'}</li>
      )}
    </ul>
  )
}

function DayLine({ days, run: { from, to, status } }: Days & { run: DayRun }) {
  const [first, last] = [days[from]!, days[to]!]
  const when = from === to ? formatDate(last.date) : `${formatShortDate(first.date)} – ${formatDate(last.date)}`
  return (
    <li data-d={from === to ? from : `${from}-${to}`}>
      {when} <b class={STATUS_LETTERS[status]}>{DAY_LABELS[status]}</b>
      {formatDayDurations(last, from === to)}
      {from === to && <Incidents day={last} />}
    </li>
  )
}

const Incidents = ({ day: { incidents, moreIncidents } }: { day: DayView }) => (
  <>
    {incidents.map(({ title }) => (
      <i dir="auto">{title}</i>
    ))}
    {moreIncidents !== undefined && (
      <i>
        {incidents.length > 0
          ? `and ${moreIncidents} more`
          : `${moreIncidents} ${pluralize(moreIncidents, 'incident')}`}
      </i>
    )}
  </>
)

function formatDayDurations(day: DayView, isOneDay: boolean): string {
  if (!isOneDay) return ''
  const durations = [
    [day.downSeconds, 'down'],
    [day.degradedSeconds, 'degraded'],
    [day.maintenanceSeconds, 'maintenance'],
  ] as const
  return durations
    .filter(([seconds]) => seconds >= 1)
    .map(([seconds, word]) => ` ${formatDuration(seconds * 1000)} ${word}`)
    .join(',')
}
