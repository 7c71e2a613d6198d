/** Times of a time zone, as controls and calendars write them. Pure. */

const formatters = new Map<string, Intl.DateTimeFormat>()

function getFormatter(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone)
  if (known) return known
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
  const made = new Intl.DateTimeFormat('en-GB', { ...parts, second: '2-digit', hourCycle: 'h23', timeZone })
  formatters.set(timeZone, made)
  return made
}

/** A time as `<input type="datetime-local">` writes it: `2026-11-21T08:00`. */
export function toZonedText(at: Date, timeZone: string): string {
  const parts = new Map(
    getFormatter(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const [year, month, day] = ['year', 'month', 'day'].map(name => parts.get(name as 'year'))
  return `${year}-${month}-${day}T${parts.get('hour')}:${parts.get('minute')}`
}

/** The day of a time: `2026-11-21`. */
export const toZonedDay = (at: Date, timeZone: string): string => toZonedText(at, timeZone).slice(0, 10)

/** The time of day: `08:00`. */
export const toZonedClock = (at: Date, timeZone: string): string => toZonedText(at, timeZone).slice(11)

/**
 * The time that a text of a control means in a time zone; null for other texts. A time that the clocks skip is the same
 * distance after the last one before; of a time that occurs twice it is the first.
 */
export function parseZonedText(text: string, timeZone: string): Date | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(text)
  if (!match) return null
  const [year, month, day, hour, minute] = match.slice(1).map(Number)
  const wantedMs = Date.UTC(year!, month! - 1, day, hour, minute)
  if (Number.isNaN(wantedMs)) return null
  const offsetAt = (ms: number) =>
    Date.parse(`${toZonedText(new Date(ms), timeZone)}:00Z`) - Math.floor(ms / 60_000) * 60_000
  const candidates = [-86_400_000, 86_400_000].map(aroundMs => wantedMs - offsetAt(wantedMs + aroundMs))
  const exact = candidates.filter(ms => ms + offsetAt(ms) === wantedMs)
  return new Date(exact.length > 0 ? Math.min(...exact) : candidates[0]!)
}
