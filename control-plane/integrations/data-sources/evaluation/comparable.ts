const NUMBER = /^[+-]?\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i
const TIME = /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?\s?(Z|[+-]\d\d:?\d\d)?$/i

/** A number, or a time in seconds since 1970. */
export type Comparable = { amount: number; isTime: boolean }

/** Parses numbers, texts that contain a number, and ISO 8601 times (UTC without a zone). Returns null for other values. */
export function parseComparable(value: unknown): Comparable | null {
  if (typeof value === 'number') return { amount: value, isTime: false }
  if (typeof value !== 'string') return null
  const text = value.trim()
  if (NUMBER.test(text)) return { amount: Number(text), isTime: false }
  const [, day, time, , , zone] = TIME.exec(text) ?? []
  if (day === undefined || !isDay(day)) return null
  const ms = Date.parse(time === undefined ? day : `${day}T${time.slice(1)}${formatZone(zone)}`)
  return Number.isNaN(ms) ? null : { amount: ms / 1_000, isTime: true }
}

/** Rejects days such as February 30th, which JavaScript parses as March 2nd. */
function isDay(day: string): boolean {
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
}

const formatZone = (zone = 'Z') =>
  /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()

/** More seconds than this are after the year 5138, so the number must be milliseconds. */
const MAX_SECONDS = 1e11

/** Converts a number of seconds or milliseconds since 1970 to seconds. */
const toSeconds = ({ amount, isTime }: Comparable) =>
  !isTime && Math.abs(amount) > MAX_SECONDS ? amount / 1_000 : amount

/** Computes the absolute difference of two values, in seconds when one of them is a time. */
export function computeDistance(a: Comparable, b: Comparable): { amount: number; isTime: boolean } {
  const isTime = a.isTime || b.isTime
  const amount = isTime ? toSeconds(a) - toSeconds(b) : a.amount - b.amount
  // rounding hides the error of doubles (0.3 - 0.1); times are compared to the millisecond
  return { amount: Number(isTime ? Math.abs(amount).toFixed(3) : Math.abs(amount).toPrecision(12)), isTime }
}

/** Whether two values of JSON are equal, lists and objects completely. The order of keys does not count. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return keys.every(key => Object.hasOwn(right, key) && isSameValue(left[key], right[key]))
}
