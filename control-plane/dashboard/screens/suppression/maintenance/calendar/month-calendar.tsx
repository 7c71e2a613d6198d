import { useMemo } from 'preact/hooks'
import { buildAddress } from '../../../../core/address.ts'
import { useFrame } from '../../../../core/frame-context.ts'
import { Section } from '../../../../parts/layout/section.tsx'
import type { WindowRecord } from '../window-periods.ts'
import { toZonedClock, toZonedDay } from '../zoned-time.ts'
import { addMonths, buildMonth, type CalendarDay, type CalendarEntry, readMonth } from './month.ts'

const PATH = '/maintenance'
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const MAX_ENTRIES = 3
/** Periods of recurring windows that are computed. The server computes only as many as it can without delaying others. */
const MAX_PERIODS = { server: 100, browser: 5_000 }

/** A month with the periods of all windows, in the time zone of the person. On phones a list of the days with periods. */
export function Calendar({ month: asked, windows }: { month: string | null; windows: readonly WindowRecord[] }) {
  const { nowMs, timeZone, isInteractive } = useFrame()
  const today = toZonedDay(new Date(nowMs), timeZone)
  const month = readMonth(asked, today)
  const most = isInteractive ? MAX_PERIODS.browser : MAX_PERIODS.server
  const { weeks, isCut } = useMemo(
    () => buildMonth(month, windows, { timeZone, most }),
    [month, windows, timeZone, most],
  )
  const isEmpty = weeks.flat().every(day => day.isOther || day.entries.length === 0)
  return (
    <Section
      id="calendar"
      title={formatMonth(month)}
      aside={
        <nav class="months" aria-label="Months">
          <a href={buildAddress(PATH, { month: addMonths(month, -1) })} rel="prev">
            Previous
          </a>
          {month !== today.slice(0, 7) && <a href={PATH}>This month</a>}
          <a href={buildAddress(PATH, { month: addMonths(month, 1) })} rel="next">
            Next
          </a>
        </nav>
      }
    >
      <table class="calendar" aria-labelledby="calendar-title">
        <thead>
          <tr>
            {DAYS.map(day => (
              <th key={day} scope="col">
                <abbr title={day}>{day.slice(0, 3)}</abbr>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map(week => (
            <tr key={week[0]?.day}>
              {week.map(day => (
                <Day key={day.day} day={day} isToday={day.day === today} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isEmpty && <p class="soft small">No maintenance in this month.</p>}
      <p class="soft small">
        Times are in {timeZone}.{isCut && ' Windows that begin very often are not shown completely.'}
      </p>
    </Section>
  )
}

function Day({ day: { day, isOther, entries }, isToday }: { day: CalendarDay; isToday: boolean }) {
  const classes = [isOther && 'other', isToday && 'today', entries.length === 0 && 'free'].filter(Boolean).join(' ')
  return (
    <td class={classes || undefined} aria-current={isToday ? 'date' : undefined}>
      <time dateTime={day}>
        <span class="day-number" aria-hidden="true">
          {Number(day.slice(8))}
        </span>
        <span class="day-name">{formatDay(day)}</span>
      </time>
      {entries.length > 0 && (
        <ul>
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
      )}
    </td>
  )
}

function Entry({ entry: { window, startsAt, endsAt, isFirst } }: { entry: CalendarEntry }) {
  const { timeZone } = useFrame()
  const [from, until] = [toZonedClock(startsAt, timeZone), toZonedClock(endsAt, timeZone)]
  return (
    <li class={isFirst ? undefined : 'continued'}>
      <a href={`${PATH}/${window.id}`} title={`${window.title}, ${from} to ${until}`}>
        <span class="clock">{isFirst ? from : '…'}</span> <bdi>{window.title}</bdi>
      </a>
    </li>
  )
}

const formatMonth = (month: string) =>
  new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(`${month}-01`))

const formatDay = (day: string) =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(day),
  )
