import { isDateTime } from '../../../../foundation/web/validation/date-time.ts'
import type { MaintenancePeriod } from '../../../../verdict/maintenance/schedule.ts'
import { validateSchedule } from '../../../../verdict/maintenance/schedule-validation.ts'
import { buildAddress } from '../../../core/address.ts'

/** The form of a new window with its begin and end, under the names of the API. */
export const toNewWindowAddress = ({ startsAt, endsAt }: MaintenancePeriod): string =>
  buildAddress('/maintenance/new', { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() })

/** The begin and end that an address proposes; null: none. `problem`: why those of the address cannot be used. */
export function readProposedTimes(
  search: URLSearchParams,
  now: Date,
): { times: MaintenancePeriod | null; problem: string | null } {
  const names = ['starts_at', 'ends_at']
  if (names.every(name => !search.has(name))) return { times: null, problem: null }
  const wrong = names.find(name => !isDateTime(search.get(name) ?? ''))
  if (wrong) return { times: null, problem: `${wrong} must be a date and time such as 2027-03-01T09:00:00Z` }
  const [startsAt, endsAt] = names.map(name => new Date(search.get(name)!)) as [Date, Date]
  const once = { cron: null, durationMinutes: null, timeZone: null }
  const [problem] = validateSchedule({ ...once, startsAt, endsAt }, now)
  return problem ? { times: null, problem: problem.message } : { times: { startsAt, endsAt }, problem: null }
}
