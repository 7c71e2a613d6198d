import { Cron } from 'croner'

/**
 * The schedule of a window: one period from `startsAt` to `endsAt`; or, with `cron` (five fields, in `timeZone`),
 * recurring periods of `durationMinutes` between the two.
 */
export type MaintenanceSchedule = {
  cron: string | null
  durationMinutes: number | null
  timeZone: string | null
  startsAt: Date | null
  endsAt: Date | null
}

export type MaintenancePeriod = { startsAt: Date; endsAt: Date }

const MINUTE_MS = 60_000
/**
 * From the start of a decade. Each day of the calendar falls on each day of the week within 40 years; a cron expression
 * that needs longer never fires.
 */
const MAX_SEARCHED_YEARS = 50
/** The last year that croner searches. */
const LAST_YEAR = 2_999

/** The first period that begins after a moment; null if there is none. */
export const findNextPeriod = (schedule: MaintenanceSchedule, after: Date): MaintenancePeriod | null =>
  createPeriodFinder(schedule)(after)

/** `findNextPeriod` for many moments; the cron expression is parsed once. */
export function createPeriodFinder(schedule: MaintenanceSchedule): (after: Date) => MaintenancePeriod | null {
  const { startsAt: from, endsAt: until } = schedule
  if (schedule.cron === null)
    return after => (from !== null && until !== null && from > after ? { startsAt: from, endsAt: until } : null)
  const findStart = createStartFinder(schedule)
  return after => {
    // a period may begin exactly at the lower bound, but croner returns times strictly after it
    const startsAt = findStart(from !== null && from > after ? new Date(from.getTime() - 1) : after)
    if (startsAt === null || (until !== null && startsAt >= until)) return null
    const endsAt = new Date(startsAt.getTime() + schedule.durationMinutes! * MINUTE_MS)
    return { startsAt, endsAt: until !== null && endsAt > until ? until : endsAt }
  }
}

/** The period that contains a moment. Periods of one schedule do not overlap (schedule-validation.ts). */
export function findPeriodAt(schedule: MaintenanceSchedule, now: Date): MaintenancePeriod | null {
  const lengthMs =
    schedule.cron === null
      ? (schedule.endsAt?.getTime() ?? 0) - (schedule.startsAt?.getTime() ?? 0)
      : schedule.durationMinutes! * MINUTE_MS
  const period = findNextPeriod(schedule, new Date(now.getTime() - lengthMs))
  return period !== null && period.startsAt <= now && period.endsAt > now ? period : null
}

/** Why a cron expression is invalid, as a sentence without a subject; null if it is valid. */
export function validateCron(cron: string): string | null {
  const fields = cron.split(' ')
  if (fields.length !== 5 || /[?@]/.test(cron)) return 'must have five fields, such as "0 2 * * 6"'
  // with them, croner examines each day of 400 years for 200 ms when no day fits
  if (cron.includes('+') || /w/i.test(fields[2]!)) return 'must not have + or a W in its days of the month'
  const problem = findParseProblem(cron)
  return problem && `is not a valid cron expression: ${problem}`
}

/** Whether periods can be computed. Windows of earlier versions may have expressions that are not valid any more. */
export const isParsableCron = (cron: string): boolean => findParseProblem(cron) === null

function findParseProblem(cron: string): string | null {
  try {
    new Cron(cron, OPTIONS)
    return null
  } catch (error) {
    return String((error as Error).message).replace(/^CronPattern: /, '')
  }
}

/**
 * `fixedTimeRule`: when clocks change, each of several times a day occurs once, too. A time that does not exist occurs
 * when the clock has gone forward.
 */
const OPTIONS = { mode: '5-part', paused: true, fixedTimeRule: 'no-wildcard' } as const

/** The first start after a moment. The years limit the search: without them croner searches 400 years, which blocks. */
function createStartFinder({ cron, timeZone }: MaintenanceSchedule): (after: Date) => Date | null {
  const options = { ...OPTIONS, mode: '7-part', timezone: timeZone! } as const
  let parsed: { decade: number; cron: Cron } | null = null
  return after => {
    const decade = Math.floor(after.getUTCFullYear() / 10)
    if (decade * 10 > LAST_YEAR) return null
    if (parsed?.decade !== decade) {
      // the year of the zone may be the one before
      const years = `${Math.max(1, decade * 10 - 1)}-${Math.min(LAST_YEAR, decade * 10 + MAX_SEARCHED_YEARS)}`
      parsed = { decade, cron: new Cron(`0 ${cron} ${years}`, options) }
    }
    return parsed.cron.nextRun(after)
  }
}
