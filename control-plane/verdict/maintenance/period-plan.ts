import { findNextPeriod, findPeriodAt, type MaintenancePeriod, type MaintenanceSchedule } from './schedule.ts'

/** The periods to store; `plannedAt`: when to plan again, null if no more periods follow. */
export type PeriodPlan = { periods: MaintenancePeriod[]; plannedAt: Date | null }

/**
 * The periods of a window that is created or rescheduled at `now`: the current one from now on, because nothing becomes
 * maintenance afterwards, and the next one. So each period is stored before it begins.
 */
export function planPeriodsFrom(schedule: MaintenanceSchedule, now: Date): PeriodPlan {
  const running = findPeriodAt(schedule, now)
  const next = findNextPeriod(schedule, now)
  const periods = running === null ? [] : [{ ...running, startsAt: running.startsAt < now ? now : running.startsAt }]
  return next === null ? { periods, plannedAt: null } : { periods: [...periods, next], plannedAt: next.startsAt }
}

/** The period after the one that begins at `plannedAt`, however long ago that was, so that none is skipped. */
export function planNextPeriod(schedule: MaintenanceSchedule, plannedAt: Date): PeriodPlan {
  const next = findNextPeriod(schedule, plannedAt)
  return next === null ? { periods: [], plannedAt: null } : { periods: [next], plannedAt: next.startsAt }
}
