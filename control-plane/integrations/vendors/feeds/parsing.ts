import { FeedError } from './report.ts'

export type Json = unknown

/** Returns an own property of an object; undefined for other values. */
export function getField(value: Json, name: string): Json {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, Json>)[name]
}

/** More items than any vendor lists. Reading a million would block the event loop for seconds. */
const MAX_ITEMS = 10_000

/** Returns the first items of a list; an empty list for other values. */
export const toList = (value: Json): Json[] => (Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [])

/** Returns a text or a number as text; null for other values and the empty text. */
export function toText(value: Json): string | null {
  if (typeof value === 'string') return value === '' ? null : value
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null
}

/** Smaller numbers are seconds, larger ones milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000

/** Converts a date as text, or seconds or milliseconds since 1970, to ISO 8601 UTC; null for other values. */
export function toIsoTime(value: Json): string | null {
  const text = toText(value)?.slice(0, 100) ?? null
  if (text === null) return null
  const number = Number(text)
  const ms = Number.isNaN(number) ? Date.parse(text) : number < MILLISECONDS_FROM ? number * 1_000 : number
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null
}

export function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw new FeedError(
      text.trimStart().startsWith('<') ? 'the response is a web page, not JSON' : 'the response is not JSON',
    )
  }
}

/** Longer than any real tag. Such a tag can keep an XML parser busy for seconds. */
const OVERLONG_TAG = /<[^<>]{65536}/

/** Returns XML that is safe to parse. Throws a FeedError. */
export function assertSafeXml(text: string): string {
  if (OVERLONG_TAG.test(text)) throw new FeedError('a tag in the feed is longer than 64 KiB')
  return text
}
