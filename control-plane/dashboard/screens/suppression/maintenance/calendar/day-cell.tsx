import { useMemo } from 'preact/hooks'
import { useFrame } from '../../../../core/frame-context.ts'
import { toZonedClock } from '../zoned-time.ts'
import { formatDay } from './day-range.ts'
import type { CalendarDay, CalendarEntry } from './month.ts'

const MAX_ENTRIES = 3

/** How a day takes part in choosing days for a new window. */
type DayState = { isChosen: boolean; isStop: boolean; onFocus(): void }

type DayCellProps = {
  day: CalendarDay
  isToday: boolean
  /** null: the day cannot be chosen */
  state: DayState | null
  /** the cells are those of a grid, in which keys move */
  isInGrid: boolean
}

export function DayCell({ day: { day, isOther, entries }, isToday, state, isInGrid }: DayCellProps) {
  const flags = { other: isOther, today: isToday, free: entries.length === 0, open: state, marked: state?.isChosen }
  const classes = Object.entries(flags).flatMap(([name, isSet]) => (isSet ? name : []))
  // not again for each day that a drag reaches
  const list = useMemo(() => <Entries day={day} entries={entries} />, [day, entries])
  const text = (
    <time dateTime={day}>
      <span class="day-number" aria-hidden="true">
        {Number(day.slice(8))}
      </span>
      <span class="day-name">{formatDay(day)}</span>
    </time>
  )
  return (
    <td
      class={classes.join(' ') || undefined}
      data-day={day}
      aria-current={isToday ? 'date' : undefined}
      {...(isInGrid && { role: 'gridcell', 'aria-selected': state?.isChosen })}
    >
      {state ? (
        <button type="button" class="plain day-label" tabIndex={state.isStop ? 0 : -1} onFocus={state.onFocus}>
          {text}
        </button>
      ) : (
        <span class="day-label">{text}</span>
      )}
      {list}
    </td>
  )
}

function Entries({ day, entries }: { day: string; entries: readonly CalendarEntry[] }) {
  if (entries.length === 0) return null
  return (
    <ul data-name={formatDay(day)}>
      {entries.slice(0, MAX_ENTRIES).map(entry => (
        <Entry key={`${entry.window.id} ${entry.startsAt.getTime()}`} entry={entry} />
      ))}
      {entries.length > MAX_ENTRIES && (
        <li>
          <details>
            <summary>{entries.length - MAX_ENTRIES} more</summary>
            <ul>
              {entries.slice(MAX_ENTRIES).map(entry => (
                <Entry key={`${entry.window.id} ${entry.startsAt.getTime()}`} entry={entry} />
              ))}
            </ul>
          </details>
        </li>
      )}
    </ul>
  )
}

function Entry({ entry: { window, startsAt, endsAt, isFirst } }: { entry: CalendarEntry }) {
  const { timeZone } = useFrame()
  const [from, until] = [toZonedClock(startsAt, timeZone), toZonedClock(endsAt, timeZone)]
  return (
    <li class={isFirst ? undefined : 'continued'}>
      <a href={`/maintenance/${window.id}`} title={`${window.title}, ${from} to ${until}`}>
        <span class="clock">{isFirst ? from : '…'}</span> <bdi>{window.title}</bdi>
      </a>
    </li>
  )
}
