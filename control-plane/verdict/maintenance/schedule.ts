import { Cron } from 'croner'

/**
 * When a window is: once, from `startsAt` to `endsAt`; or, with `cron` (five fields, in `timeZone`), again and again
 * for `durationMinutes` each, where the two are bounds.
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

/** The first period that begins after a moment; null when none does. */
export function findNextPeriod(schedule: MaintenanceSchedule, after: Date): MaintenancePeriod | null {
  if (schedule.cron === null) {
    const { startsAt, endsAt } = schedule
    return startsAt !== null && endsAt !== null && startsAt > after ? { startsAt, endsAt } : null
  }
  const { startsAt: from, endsAt: until } = schedule
  // a start may be the very moment of the lower bound, and croner looks strictly after
  const floor = from !== null && from > after ? new Date(from.getTime() - 1) : after
  const startsAt = parseCron(schedule).nextRun(floor)
  if (startsAt === null || (until !== null && startsAt >= until)) return null
  const endsAt = new Date(startsAt.getTime() + schedule.durationMinutes! * MINUTE_MS)
  return { startsAt, endsAt: until !== null && endsAt > until ? until : endsAt }
}

/** The period that a moment lies in. Periods of one schedule do not overlap (problems.ts). */
export function findPeriodAt(schedule: MaintenanceSchedule, now: Date): MaintenancePeriod | null {
  const lengthMs =
    schedule.cron === null
      ? (schedule.endsAt?.getTime() ?? 0) - (schedule.startsAt?.getTime() ?? 0)
      : schedule.durationMinutes! * MINUTE_MS
  const period = findNextPeriod(schedule, new Date(now.getTime() - lengthMs))
  return period !== null && period.startsAt <= now && period.endsAt > now ? period : null
}

/** Why a cron expression cannot be used, in a sentence without a subject; null when it can. */
export function validateCron(cron: string): string | null {
  if (cron.split(' ').length !== 5 || /[?@]/.test(cron)) return 'must be five fields, such as "0 2 * * 6"'
  try {
    new Cron(cron, OPTIONS)
    return null
  } catch (error) {
    return `is not a cron expression: ${String((error as Error).message).replace(/^CronPattern: /, '')}`
  }
}

/** Names of the IANA data base that this machine knows; offsets such as +02:00 are none, they know no summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const OPTIONS = { mode: '5-part', paused: true } as const

const parseCron = ({ cron, timeZone }: MaintenanceSchedule) => new Cron(cron!, { ...OPTIONS, timezone: timeZone! })
