const DATE_TIME = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

/**
 * Whether the API accepts a date and time: RFC 3339 as far as JavaScript can parse it, so no leap seconds, existing days only,
 * from 1970 on.
 */
export const isDateTime = (text: string): boolean =>
  DATE_TIME.test(text) && Date.parse(text) >= 0 && isDay(text.slice(0, 10))

/** JavaScript parses February 30th as March 2nd. */
const isDay = (day: string) => new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
