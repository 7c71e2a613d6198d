import { validationError } from '../../../foundation/web/server/errors.ts'

const DAY_MS = 24 * 3_600_000
const MAX_RANGE_DAYS = 400
export const MAX_RANGE_MS = MAX_RANGE_DAYS * DAY_MS

export type TimeRange = { from: Date; to: Date }

/**
 * The requested time range: defaults to the last 24 hours, at most 400 days (docs/design/history.md#uptime).
 * Throws 400 when `from` is after `to`.
 */
export function parseTimeRange(query: { from?: string; to?: string }, now: Date): TimeRange {
  const to = query.to ? new Date(query.to) : now
  const from = query.from ? new Date(query.from) : new Date(to.getTime() - DAY_MS)
  if (from > to) throw validationError([{ path: 'from', message: 'from must not be after to' }])
  if (to.getTime() - from.getTime() > MAX_RANGE_MS) {
    throw validationError([{ path: 'from', message: `from and to must not be more than ${MAX_RANGE_DAYS} days apart` }])
  }
  return { from, to }
}

/** The longest range of a list of checks, and its default (docs/design/history.md#checks). */
export const MAX_CHECK_DAYS = 31

/** The range of a list of checks, in ms; without `to` it has no end. Throws 400 when it is too long or `from` is after `to`. */
export function parseCheckRange(
  query: { from?: string; to?: string },
  now: Date,
): { fromMs: number; toMs: number | null } {
  const toMs = query.to ? Date.parse(query.to) : null
  const endMs = toMs ?? now.getTime()
  const fromMs = query.from ? Date.parse(query.from) : endMs - MAX_CHECK_DAYS * DAY_MS
  if (fromMs > endMs)
    throw validationError([{ path: 'from', message: 'from must not be after to, which defaults to now' }])
  if (endMs - fromMs <= MAX_CHECK_DAYS * DAY_MS) return { fromMs, toMs }
  const message = `from and to must not be more than ${MAX_CHECK_DAYS} days apart; to defaults to now`
  throw validationError([{ path: 'from', message }])
}

/** The part of a range that is past: nothing is known of later statuses. */
export function limitToPast({ from, to }: TimeRange, now: Date): TimeRange {
  const end = to < now ? to : now
  return { from: from < end ? from : end, to: end }
}
