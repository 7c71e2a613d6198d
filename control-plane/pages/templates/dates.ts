const DAY = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const
const dateFormat = new Intl.DateTimeFormat('en-GB', { ...DAY, year: 'numeric' })
const shortFormat = new Intl.DateTimeFormat('en-GB', DAY)
const longFormat = new Intl.DateTimeFormat('en-GB', { ...DAY, weekday: 'long', month: 'long' })
const momentFormat = new Intl.DateTimeFormat('en-GB', {
  ...DAY,
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

const DAY_MS = 86_400_000

/** `2026-11-21` as "21 Nov 2026" */
export const formatDate = (date: string) => dateFormat.format(new Date(date))
/** `2026-11-21` as "21 Nov" */
export const formatShortDate = (date: string) => shortFormat.format(new Date(date))
/** `2026-11-21` as "Saturday, 21 November" */
export const formatLongDate = (date: string) => longFormat.format(new Date(date))
/** An instant as "21 Nov, 14:05 UTC". Pages cover weeks, so the year is omitted. */
export const formatShortDateTime = (at: string) => `${momentFormat.format(new Date(at))} UTC`
/** An instant as "14:05 UTC" */
export const formatTime = (at: string) => `${new Date(at).toISOString().slice(11, 16)} UTC`
/** An instant's day (UTC), `2026-11-21` */
export const getUtcDay = (at: string) => at.slice(0, 10)

/** `from` to `to`, days as `2026-11-21`: "19–21 Nov", "30 Oct – 2 Nov", or one date. */
export function formatDateRange(from: string, to: string): string {
  if (from === to) return formatShortDate(from)
  const isOneMonth = from.slice(0, 7) === to.slice(0, 7)
  return isOneMonth
    ? `${Number(from.slice(8))}–${formatShortDate(to)}`
    : `${formatShortDate(from)} – ${formatShortDate(to)}`
}

/** The last `many` days up to that of `at`, newest first. */
export const listPastDays = (at: string, many: number): string[] =>
  Array.from({ length: many }, (_, i) => new Date(Date.parse(getUtcDay(at)) - i * DAY_MS).toISOString().slice(0, 10))

/** Truncated to the minute, so that a page rendered again within a minute has the same bytes. */
export const truncateToMinute = (at: string) => `${new Date(at).toISOString().slice(0, 16)}:00.000Z`
