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

/** The first period that begins after a moment; null if there is none. */
export const findNextPeriod = (schedule: MaintenanceSchedule, after: Date): MaintenancePeriod | null =>
  createPeriodFinder(schedule)(after)

/** `findNextPeriod` for many moments; the cron expression is parsed once. */
export function createPeriodFinder(schedule: MaintenanceSchedule): (after: Date) => MaintenancePeriod | null {
  const { startsAt: from, endsAt: until } = schedule
  if (schedule.cron === null)
    return after => (from !== null && until !== null && from > after ? { startsAt: from, endsAt: until } : null)
  const cron = parseCron(schedule)
  return after => {
    // a period may begin exactly at the lower bound, but croner returns times strictly after it
    const floor = from !== null && from > after ? new Date(from.getTime() - 1) : after
    const startsAt = cron.nextRun(floor)
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
  if (cron.split(' ').length !== 5 || /[?@]/.test(cron)) return 'must have five fields, such as "0 2 * * 6"'
  try {
    new Cron(cron, OPTIONS)
    return null
  } catch (error) {
    return `is not a valid cron expression: ${String((error as Error).message).replace(/^CronPattern: /, '')}`
  }
}

/**
 * `fixedTimeRule`: when clocks change, each of several times a day occurs once, too. A time that does not exist occurs
 * when the clock has gone forward.
 */
const OPTIONS = { mode: '5-part', paused: true, fixedTimeRule: 'no-wildcard' } as const

const parseCron = ({ cron, timeZone }: MaintenanceSchedule) => new Cron(cron!, { ...OPTIONS, timezone: timeZone! })
