import type { Detail } from '../web/errors.ts'
import { cronProblem, isTimeZone, nextPeriod, periodAt, type Schedule } from './schedule.ts'

/** Longer than this nothing is kept silent in one go: seven days. */
export const LONGEST_MINUTES = 7 * 24 * 60
const MINUTE_MS = 60_000
/** how many periods in a row are compared: over a year of daily ones, so that no change of the clocks is missed */
const COMPARED = 370

/** What is wrong with the times of a window that is made or moved at `now`. */
export function scheduleProblems(schedule: Schedule, now: Date): Detail[] {
  const problems = schedule.cron === null ? problemsOfOne(schedule) : problemsOfMany(schedule, now)
  if (problems.length > 0 || periodAt(schedule, now) !== null || nextPeriod(schedule, now) !== null) return problems
  if (schedule.cron === null) return [{ path: 'ends_at', message: 'ends_at must be in the future' }]
  return [{ path: 'cron', message: 'cron names no time that is still to come between starts_at and ends_at' }]
}

function problemsOfOne({ startsAt, endsAt, durationMinutes, timeZone }: Schedule): Detail[] {
  const problems: Detail[] = []
  const say = (path: string, what: string) => problems.push({ path, message: `${path} ${what}` })
  if (startsAt === null) say('starts_at', 'is required without cron')
  if (endsAt === null) say('ends_at', 'is required without cron')
  if (durationMinutes !== null) say('duration_minutes', 'is for windows with cron')
  if (timeZone !== null) say('time_zone', 'is for windows with cron')
  if (startsAt === null || endsAt === null) return problems
  if (endsAt <= startsAt) say('ends_at', 'must come after starts_at')
  else if (endsAt.getTime() - startsAt.getTime() > LONGEST_MINUTES * MINUTE_MS)
    say('ends_at', 'must come at most 7 days after starts_at')
  return problems
}

function problemsOfMany(schedule: Schedule, now: Date): Detail[] {
  const { cron, durationMinutes, timeZone, startsAt, endsAt } = schedule
  const problems: Detail[] = []
  const say = (path: string, what: string) => problems.push({ path, message: `${path} ${what}` })
  const wrong = cronProblem(cron!)
  if (wrong !== null) say('cron', wrong)
  if (durationMinutes === null) say('duration_minutes', 'is required with cron')
  if (timeZone === null) say('time_zone', 'is required with cron')
  else if (!isTimeZone(timeZone)) say('time_zone', 'must be the name of a time zone, such as Europe/Berlin')
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) say('ends_at', 'must come after starts_at')
  if (problems.length === 0 && overlaps({ ...schedule, endsAt: null }, now))
    say('duration_minutes', 'must be shorter than the time from one start to the next')
  return problems
}

/** Periods that touch would be one without an end, in which nobody hears of anything. */
function overlaps(schedule: Schedule, now: Date): boolean {
  let before = nextPeriod(schedule, now)
  for (let i = 0; i < COMPARED && before !== null; i++) {
    const after = nextPeriod(schedule, before.startsAt)
    if (after !== null && after.startsAt <= before.endsAt) return true
    before = after
  }
  return false
}
