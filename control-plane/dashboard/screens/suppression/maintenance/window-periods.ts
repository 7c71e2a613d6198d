import { isTimeZone } from '../../../../foundation/web/validation/time-zone.ts'
import {
  createPeriodFinder,
  findPeriodAt,
  isParsableCron,
  type MaintenancePeriod,
  type MaintenanceSchedule,
} from '../../../../verdict/maintenance/schedule.ts'
import type { OperationResponse } from '../../../core/operations.ts'

export type WindowRecord = OperationResponse<'readMaintenanceWindow'>['data']

type RecordedSchedule = Pick<WindowRecord, 'cron' | 'duration_minutes' | 'time_zone' | 'starts_at' | 'ends_at'>

const toDate = (at: string | null) => (at === null ? null : new Date(at))

/** The schedule of a record, for the code of the server that computes periods. */
export const toSchedule = (window: RecordedSchedule): MaintenanceSchedule => ({
  cron: window.cron,
  durationMinutes: window.duration_minutes,
  timeZone: window.time_zone,
  startsAt: toDate(window.starts_at),
  endsAt: toDate(window.ends_at),
})

/** Whether this browser can compute the periods: an old one may not have a new time zone. */
const isComputable = ({ cron, timeZone }: MaintenanceSchedule) =>
  cron === null || (isParsableCron(cron) && timeZone !== null && isTimeZone(timeZone))

const DAY_MS = 86_400_000

/**
 * The periods that overlap a range, in order: at most `ofDay` that begin on the same UTC day, and `most` in all. `isCut`: some
 * are left out. Each takes about 0.1 ms.
 */
export function listPeriodsBetween(
  schedule: MaintenanceSchedule,
  { from, to, ofDay, most }: { from: Date; to: Date; ofDay: number; most: number },
): { periods: MaintenancePeriod[]; isCut: boolean } {
  if (schedule.cron !== null && most === 0) return { periods: [], isCut: true }
  if (!isComputable(schedule)) return { periods: [], isCut: false }
  const running = findPeriodAt(schedule, from)
  const periods = running === null ? [] : [running]
  const findNext = createPeriodFinder(schedule)
  let [day, found, isCut] = [0, 0, false]
  let next = findNext(from)
  while (next !== null && next.startsAt < to) {
    if (schedule.cron !== null && periods.length >= most) return { periods, isCut: true }
    const dayOfNext = Math.floor(next.startsAt.getTime() / DAY_MS)
    found = dayOfNext === day ? found + 1 : 1
    day = dayOfNext
    if (found <= ofDay) periods.push(next)
    else isCut = true
    next = findNext(found > ofDay ? new Date((day + 1) * DAY_MS - 1) : next.startsAt)
  }
  return { periods, isCut }
}

/** The current period and the next ones. */
export function listNextPeriods(schedule: MaintenanceSchedule, now: Date, count: number): MaintenancePeriod[] {
  if (!isComputable(schedule)) return []
  const running = findPeriodAt(schedule, now)
  const periods = running === null ? [] : [running]
  const findNext = createPeriodFinder(schedule)
  for (let next = findNext(now); next !== null && periods.length < count; next = findNext(next.startsAt))
    periods.push(next)
  return periods
}
