import { FeedError } from './report.ts'

export type Json = unknown

/** An own property of an object; undefined for everything else. */
export function getField(value: Json, name: string): Json {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, Json>)[name]
}

/** More than any vendor lists in a document that may be read; reading a million holds everything else up for seconds. */
const MAX_ITEMS = 10_000

/** The items of a list, as far as they are looked at; none of everything else. */
export const toList = (value: Json): Json[] => (Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [])

/** A text; numbers as they are written; null for everything else and for nothing. */
export function toText(value: Json): string | null {
  if (typeof value === 'string') return value === '' ? null : value
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null
}

/** Numbers below are seconds, above milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000

/** ISO 8601 UTC out of a date in words or a number of seconds or milliseconds since 1970; null when it is none. */
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
    throw new FeedError(text.trimStart().startsWith('<') ? 'a web page came instead of JSON' : 'what came is no JSON')
  }
}

/** As long as no tag that somebody wrote, and long enough to keep a parser of XML busy for seconds. */
const OVERLONG_TAG = /<[^<>]{65536}/

/** XML as a parser may read it. Throws a FeedError. */
export function assertSafeXml(text: string): string {
  if (OVERLONG_TAG.test(text)) throw new FeedError('a tag in the feed is longer than 64 KiB')
  return text
}
