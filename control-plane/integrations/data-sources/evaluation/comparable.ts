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

/**
 * Compiles a test whether a value of JSON equals one of `values`, lists and objects completely. The order of keys does not
 * count. The time of the test depends on the length of the longest of `values`, not on their number.
 */
export function compileEquality(values: readonly unknown[]): (value: unknown) => boolean {
  const texts = new Set<string | null>(values.map(value => formatSorted(value, Number.POSITIVE_INFINITY)))
  const longest = Math.max(...[...texts].map(text => text?.length ?? 0))
  return value => {
    const text = formatSorted(value, longest)
    return text !== null && texts.has(text)
  }
}

/** Documents have fewer levels. */
const MAX_LEVELS = 1_000

/** Formats a value of JSON as text, with sorted keys. Returns null when the text is longer than `maxLength`, or deeper than any document. */
function formatSorted(value: unknown, maxLength: number): string | null {
  const parts: string[] = []
  let left = maxLength
  const add = (text: string): boolean => {
    left -= text.length
    parts.push(text)
    return left >= 0
  }
  const format = (one: unknown, level: number): boolean => {
    if (typeof one === 'string') return one.length <= left && add(JSON.stringify(one))
    if (typeof one !== 'object' || one === null) return add(String(one))
    if (level > MAX_LEVELS) return false
    if (Array.isArray(one)) {
      return one.length <= left && add('[') && one.every(item => format(item, level + 1) && add(',')) && add(']')
    }
    const keys = Object.keys(one)
    const formatEntry = (key: string) =>
      format(key, level) && add(':') && format((one as Record<string, unknown>)[key], level + 1) && add(',')
    return keys.length <= left && add('{') && keys.sort().every(formatEntry) && add('}')
  }
  return format(value, 0) ? parts.join('') : null
}
