import { isTimeZone } from '../../../../foundation/web/validation/time-zone.ts'
import {
  createPeriodFinder,
  findPeriodAt,
  type MaintenancePeriod,
  type MaintenanceSchedule,
  validateCron,
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
  cron === null || (validateCron(cron) === null && timeZone !== null && isTimeZone(timeZone))

const MAX_PERIODS = 1_000

/** The periods that overlap a range, in order; at most 1,000. */
export function listPeriodsBetween(schedule: MaintenanceSchedule, from: Date, to: Date): MaintenancePeriod[] {
  if (!isComputable(schedule)) return []
  const running = findPeriodAt(schedule, from)
  const periods = running === null ? [] : [running]
  const findNext = createPeriodFinder(schedule)
  let next = findNext(from)
  while (next !== null && next.startsAt < to && periods.length < MAX_PERIODS) {
    periods.push(next)
    next = findNext(next.startsAt)
  }
  return periods
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
