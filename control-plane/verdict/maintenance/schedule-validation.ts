import type { ErrorDetail } from '../../foundation/web/server/errors.ts'
import { isTimeZone } from '../../foundation/web/validation/time-zone.ts'
import { createPeriodFinder, findNextPeriod, findPeriodAt, type MaintenanceSchedule, validateCron } from './schedule.ts'

/** The longest period: seven days. */
export const MAX_WINDOW_MINUTES = 7 * 24 * 60
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** How many consecutive periods are compared, from now and from before each change of clocks in this many days. */
const MAX_COMPARED_PERIODS = 370
const MAX_COMPARED_DAYS = 370
/** Clocks change by less. */
const MAX_CLOCK_CHANGE_MS = 3 * HOUR_MS

/** The errors in the schedule of a window that is created or rescheduled at `now`. */
export function validateSchedule(schedule: MaintenanceSchedule, now: Date): ErrorDetail[] {
  const problems = schedule.cron === null ? validateOneOff(schedule) : validateRecurring(schedule, now)
  if (problems.length > 0 || findPeriodAt(schedule, now) !== null || findNextPeriod(schedule, now) !== null)
    return problems
  if (schedule.cron === null) return [{ path: 'ends_at', message: 'ends_at must be in the future' }]
  return [{ path: 'cron', message: 'cron never fires in the future between starts_at and ends_at' }]
}

function validateOneOff({ startsAt, endsAt, durationMinutes, timeZone }: MaintenanceSchedule): ErrorDetail[] {
  const problems: ErrorDetail[] = []
  const say = (path: string, what: string) => problems.push({ path, message: `${path} ${what}` })
  if (startsAt === null) say('starts_at', 'is required without cron')
  if (endsAt === null) say('ends_at', 'is required without cron')
  if (durationMinutes !== null) say('duration_minutes', 'is only allowed with cron')
  if (timeZone !== null) say('time_zone', 'is only allowed with cron')
  if (startsAt === null || endsAt === null) return problems
  if (endsAt <= startsAt) say('ends_at', 'must be after starts_at')
  else if (endsAt.getTime() - startsAt.getTime() > MAX_WINDOW_MINUTES * MINUTE_MS)
    say('ends_at', 'must be at most 7 days after starts_at')
  return problems
}

function validateRecurring(schedule: MaintenanceSchedule, now: Date): ErrorDetail[] {
  const { cron, durationMinutes, timeZone, startsAt, endsAt } = schedule
  const problems: ErrorDetail[] = []
  const say = (path: string, what: string) => problems.push({ path, message: `${path} ${what}` })
  const wrong = validateCron(cron!)
  if (wrong !== null) say('cron', wrong)
  if (durationMinutes === null) say('duration_minutes', 'is required with cron')
  if (timeZone === null) say('time_zone', 'is required with cron')
  else if (!isTimeZone(timeZone)) say('time_zone', 'must be an IANA time zone name, such as Europe/Berlin')
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) say('ends_at', 'must be after starts_at')
  if (problems.length === 0 && overlaps({ ...schedule, endsAt: null }, now))
    say('duration_minutes', 'must be shorter than the time from one start to the next')
  return problems
}

/** Periods must not touch: together they could suppress alerts without an end. */
function overlaps(schedule: MaintenanceSchedule, now: Date): boolean {
  const findNext = createPeriodFinder(schedule)
  const touchFrom = (from: Date, until = Number.POSITIVE_INFINITY) => {
    let before = findNext(from)
    for (let i = 0; i < MAX_COMPARED_PERIODS && before !== null && before.startsAt.getTime() <= until; i++) {
      const after = findNext(before.startsAt)
      if (after !== null && after.startsAt <= before.endsAt) return true
      before = after
    }
    return false
  }
  const leadMs = schedule.durationMinutes! * MINUTE_MS + MAX_CLOCK_CHANGE_MS
  const touchNear = (atMs: number) => touchFrom(new Date(atMs - leadMs), atMs + MAX_CLOCK_CHANGE_MS)
  return touchFrom(now) || listClockChanges(schedule.timeZone!, now).some(touchNear)
}

/** When the clocks of the zone change in the days from `now`, at most an hour late, in ms. */
function listClockChanges(timeZone: string, now: Date): number[] {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (ms: number) => format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')!.value
  const days = Array.from({ length: MAX_COMPARED_DAYS }, (_, i) => now.getTime() + i * DAY_MS)
  return days.flatMap(dayMs => {
    const before = offsetAt(dayMs)
    if (before === offsetAt(dayMs + DAY_MS)) return []
    const hours = Array.from({ length: 24 }, (_, i) => dayMs + (i + 1) * HOUR_MS)
    return hours.find(ms => offsetAt(ms) !== before) ?? []
  })
}
