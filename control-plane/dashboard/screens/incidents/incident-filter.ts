import { buildAddress, parsePage } from '../../core/address.ts'
import type { OperationArguments } from '../../core/operations.ts'

type ListQuery = NonNullable<OperationArguments<'listIncidents'>['query']>

export const OPEN_STATUSES = 'investigating,identified,monitoring'
/** How many open incidents the first page shows. */
const OPEN_PER_PAGE = 100
const DAY_MS = 86_400_000

/** The filters of the list as the address contains them: texts, null without a value. */
export type IncidentFilter = {
  /** a status of the API, or `open` for all but `resolved` */
  status: string | null
  severity: string | null
  q: string | null
  monitor_id: string | null
  /** days in UTC, as `2026-11-21`; both belong to the range */
  from: string | null
  to: string | null
}

const NAMES = ['status', 'severity', 'q', 'monitor_id', 'from', 'to'] as const satisfies (keyof IncidentFilter)[]

export const parseFilter = (search: URLSearchParams): IncidentFilter =>
  Object.fromEntries(NAMES.map(name => [name, search.get(name) || null])) as IncidentFilter

export const isFiltered = (filter: IncidentFilter): boolean => NAMES.some(name => filter[name] !== null)

export const buildListPath = (filter: IncidentFilter, page = 1): string =>
  buildAddress('/incidents', { ...filter, page: page === 1 ? null : page })

/**
 * The queries of the API for the two parts of the list: open incidents, and resolved ones page by page. A part that a
 * filter of the status excludes is null. Values that the API does not accept are sent as they are, so that its error is
 * shown.
 */
export function toQueries(search: URLSearchParams): { open: ListQuery | null; resolved: ListQuery | null } {
  const { status, severity, q, monitor_id, from, to } = parseFilter(search)
  const page = parsePage(search)
  const common: ListQuery = {
    ...(severity !== null && { severity }),
    ...(q !== null && { q }),
    ...(monitor_id !== null && { monitor_id }),
    ...(from !== null && { from: toTime(from, 0) }),
    ...(to !== null && { to: toTime(to, DAY_MS) }),
  }
  if (status === 'resolved') return { open: null, resolved: { ...common, status, page } }
  // the same pages as in the list of both parts, whose link leads to the second one
  if (status === 'open')
    return { open: { ...common, status: OPEN_STATUSES, page, per_page: OPEN_PER_PAGE }, resolved: null }
  if (status !== null) return { open: { ...common, status, page }, resolved: null }
  const open = page === 1 ? { ...common, status: OPEN_STATUSES, per_page: OPEN_PER_PAGE } : null
  return { open, resolved: { ...common, status: 'resolved', page } }
}

/** The start of a day in UTC, `plusMs` later. */
function toTime(day: string, plusMs: number): string {
  const ms = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(ms) ? day : new Date(ms + plusMs).toISOString()
}
