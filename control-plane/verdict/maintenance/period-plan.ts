import { findNextPeriod, findPeriodAt, type MaintenancePeriod, type MaintenanceSchedule } from './schedule.ts'

/** What to write down of a window; `plannedAt`: when to look again, null when nothing more will come. */
export type PeriodPlan = { periods: MaintenancePeriod[]; plannedAt: Date | null }

/**
 * The periods of a window that is made or moved at `now`: the running one from now on, for what was before is not
 * made maintenance afterwards, and the next one. So the judge finds each period before it begins.
 */
export function planPeriodsFrom(schedule: MaintenanceSchedule, now: Date): PeriodPlan {
  const running = findPeriodAt(schedule, now)
  const next = findNextPeriod(schedule, now)
  const periods = running === null ? [] : [{ ...running, startsAt: running.startsAt < now ? now : running.startsAt }]
  return next === null ? { periods, plannedAt: null } : { periods: [...periods, next], plannedAt: next.startsAt }
}

/** The period after the one that begins at `plannedAt`, however long ago that was: a plan skips none. */
export function planNextPeriod(schedule: MaintenanceSchedule, plannedAt: Date): PeriodPlan {
  const next = findNextPeriod(schedule, plannedAt)
  return next === null ? { periods: [], plannedAt: null } : { periods: [next], plannedAt: next.startsAt }
}
