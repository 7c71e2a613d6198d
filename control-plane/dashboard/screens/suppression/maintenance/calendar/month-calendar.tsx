import { useMemo } from 'preact/hooks'
import { buildAddress } from '../../../../core/address.ts'
import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import { Section } from '../../../../parts/layout/section.tsx'
import { toNewWindowAddress } from '../proposed-times.ts'
import type { WindowRecord } from '../window-periods.ts'
import { toZonedDay } from '../zoned-time.ts'
import { DayCell } from './day-cell.tsx'
import { useDayChoice } from './day-choice.ts'
import { describeDays, hasDay, proposeTimes } from './day-range.ts'
import { addMonths, buildMonth, type CalendarDay, readMonth } from './month.ts'

const PATH = '/maintenance'
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
/** Periods of recurring windows that are computed. The server computes only as many as it can without delaying others. */
const MAX_PERIODS = { server: 100, browser: 5_000 }

/** A month with the periods of all windows, in the time zone of the person. Who may write plans a window by choosing days. */
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
      <Month key={month} month={month} weeks={weeks} today={today} />
      {isEmpty && <p class="soft small">No maintenance in this month.</p>}
      <p class="soft small">
        Times are in {timeZone}.{isCut && ' Windows that begin very often are not shown completely.'}
      </p>
    </Section>
  )
}

function Month({ month, weeks, today }: { month: string; weeks: readonly CalendarDay[][]; today: string }) {
  const { me, nowMs, timeZone, isInteractive, navigate } = useFrame()
  const shown = weeks.flat().map(({ day }) => day)
  const days = canWrite(me) && isInteractive ? shown.filter(day => day >= today) : []
  const firstStop = days.find(day => day.startsWith(month)) ?? days[0] ?? today
  const { chosen, stop, setFocused, handlers } = useDayChoice({
    ...{ days, today, firstStop },
    open: chosenDays => navigate(toNewWindowAddress(proposeTimes(chosenDays, nowMs, timeZone))),
  })
  const isGrid = days.length > 0
  const grid =
    isGrid && ({ role: 'grid', 'aria-multiselectable': true, 'aria-describedby': 'calendar-choice' } as const)
  const rowRole = isGrid ? 'row' : undefined
  return (
    <>
      <table class="calendar" aria-labelledby="calendar-title" {...grid} {...handlers}>
        <thead>
          <tr role={rowRole}>
            {DAYS.map(day => (
              <th key={day} scope="col">
                <abbr title={day}>{day.slice(0, 3)}</abbr>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map(week => (
            <tr key={week[0]?.day} role={rowRole}>
              {week.map(day => (
                <DayCell
                  key={day.day}
                  day={day}
                  isToday={day.day === today}
                  isInGrid={isGrid}
                  state={
                    days.includes(day.day)
                      ? {
                          isChosen: hasDay(chosen, day.day),
                          isStop: day.day === stop,
                          onFocus: () => setFocused(day.day),
                        }
                      : null
                  }
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isGrid && (
        <p id="calendar-choice" class="small" role="status">
          {chosen
            ? describeDays(chosen, chosen.isLimited)
            : 'To plan maintenance, choose a day, or drag over several with a mouse. With keys: arrows, Shift for several days, Enter.'}
        </p>
      )}
    </>
  )
}

const formatMonth = (month: string) =>
  new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(`${month}-01`))
