import { nextPeriod, type Period, periodAt, type Schedule } from './schedule.ts'

/** What to write down of a window; `plannedAt`: when to look again, null when nothing more will come. */
export type Plan = { periods: Period[]; plannedAt: Date | null }

/**
 * The periods of a window that is made or moved at `now`: the running one from now on, for what was before is not
 * made maintenance afterwards, and the next one. So the judge finds each period before it begins.
 */
export function planFrom(schedule: Schedule, now: Date): Plan {
  const running = periodAt(schedule, now)
  const next = nextPeriod(schedule, now)
  const periods = running === null ? [] : [{ ...running, startsAt: running.startsAt < now ? now : running.startsAt }]
  return next === null ? { periods, plannedAt: null } : { periods: [...periods, next], plannedAt: next.startsAt }
}

/** The period after the one that begins at `plannedAt`, however long ago that was: a plan skips none. */
export function planAfter(schedule: Schedule, plannedAt: Date): Plan {
  const next = nextPeriod(schedule, plannedAt)
  return next === null ? { periods: [], plannedAt: null } : { periods: [next], plannedAt: next.startsAt }
}
