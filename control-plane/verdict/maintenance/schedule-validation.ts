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
/** No zone changes its clocks twice in this time; seven days are the shortest, around Ramadan in Gaza. */
const OFFSET_STEP_MS = 3 * DAY_MS
/** Results of comparisons, so that an import compares the periods of a schedule that many entries have once. */
const MAX_KEPT_RESULTS = 1_000
const keptResults = new Map<string, boolean>()

/** The errors in the schedule of a window that is created or rescheduled at `now`. */
export function validateSchedule(schedule: MaintenanceSchedule, now: Date): ErrorDetail[] {
  const problems = schedule.cron === null ? validateOneOff(schedule) : validateRecurring(schedule)
  if (problems.length > 0) return problems
  if (findPeriodAt(schedule, now) === null && findNextPeriod(schedule, now) === null) {
    if (schedule.cron === null) return [{ path: 'ends_at', message: 'ends_at must be in the future' }]
    return [{ path: 'cron', message: 'cron never fires in the future between starts_at and ends_at' }]
  }
  // last, because it is the most expensive
  if (schedule.cron === null || !overlaps({ ...schedule, endsAt: null }, now)) return []
  const message = 'duration_minutes must be shorter than the time from one start to the next'
  return [{ path: 'duration_minutes', message }]
}

function validateOneOff({ startsAt, endsAt, durationMinutes, timeZone }: MaintenanceSchedule): ErrorDetail[] {
  const problems: ErrorDetail[] = []
  const addProblem = (path: string, what: string) => problems.push({ path, message: `${path} ${what}` })
  if (startsAt === null) addProblem('starts_at', 'is required without cron')
  if (endsAt === null) addProblem('ends_at', 'is required without cron')
  if (durationMinutes !== null) addProblem('duration_minutes', 'is only allowed with cron')
  if (timeZone !== null) addProblem('time_zone', 'is only allowed with cron')
  if (startsAt === null || endsAt === null) return problems
  if (endsAt <= startsAt) addProblem('ends_at', 'must be after starts_at')
  else if (endsAt.getTime() - startsAt.getTime() > MAX_WINDOW_MINUTES * MINUTE_MS)
    addProblem('ends_at', 'must be at most 7 days after starts_at')
  return problems
}

function validateRecurring(schedule: MaintenanceSchedule): ErrorDetail[] {
  const { cron, durationMinutes, timeZone, startsAt, endsAt } = schedule
  const problems: ErrorDetail[] = []
  const addProblem = (path: string, what: string) => problems.push({ path, message: `${path} ${what}` })
  const wrong = validateCron(cron!)
  if (wrong !== null) addProblem('cron', wrong)
  if (durationMinutes === null) addProblem('duration_minutes', 'is required with cron')
  if (timeZone === null) addProblem('time_zone', 'is required with cron')
  else if (!isTimeZone(timeZone)) addProblem('time_zone', 'must be an IANA time zone name, such as Europe/Berlin')
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) addProblem('ends_at', 'must be after starts_at')
  return problems
}

/** Periods must not touch: together they could suppress alerts without an end. */
function overlaps(schedule: MaintenanceSchedule, now: Date): boolean {
  const { cron, durationMinutes, timeZone, startsAt } = schedule
  const key = JSON.stringify([cron, durationMinutes, timeZone, startsAt, now])
  const kept = keptResults.get(key)
  if (kept !== undefined) return kept
  const result = comparePeriods(schedule, now)
  if (keptResults.size >= MAX_KEPT_RESULTS) keptResults.delete(keptResults.keys().next().value!)
  keptResults.set(key, result)
  return result
}

function comparePeriods(schedule: MaintenanceSchedule, now: Date): boolean {
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
  const untilMs = now.getTime() + MAX_COMPARED_DAYS * DAY_MS
  const changes: number[] = []
  let [fromMs, before] = [now.getTime(), offsetAt(now.getTime())]
  while (fromMs < untilMs) {
    const toMs = Math.min(fromMs + OFFSET_STEP_MS, untilMs)
    const after = offsetAt(toMs)
    if (after !== before) changes.push(bisect(fromMs, toMs, ms => offsetAt(ms) === before))
    fromMs = toMs
    before = after
  }
  return changes
}

/** The first whole hour from `fromMs` at which the condition is false. It is true at `fromMs` and false at `toMs`. */
function bisect(fromMs: number, toMs: number, isBefore: (ms: number) => boolean): number {
  let [first, last] = [0, (toMs - fromMs) / HOUR_MS]
  while (last - first > 1) {
    const middle = Math.floor((first + last) / 2)
    if (isBefore(fromMs + middle * HOUR_MS)) first = middle
    else last = middle
  }
  return fromMs + last * HOUR_MS
}
