const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The ranges that charts offer. `step`: of the figures. */
const RANGES = {
  '24h': { name: '24 hours', ms: DAY_MS, step: '5m', stepMs: 300_000, heatStep: '1h' },
  '7d': { name: '7 days', ms: 7 * DAY_MS, step: '1h', stepMs: HOUR_MS, heatStep: '1h' },
  '30d': { name: '30 days', ms: 30 * DAY_MS, step: '1h', stepMs: HOUR_MS, heatStep: '1h' },
} as const

type RangeName = keyof typeof RANGES
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[]

/** The times that all charts of a page show. `name`: null for times of a person's own choice. */
export type ShownRange = {
  name: RangeName | null
  fromMs: number
  toMs: number
  step: '5m' | '1h'
  stepMs: number
  heatStep: '5m' | '1h'
}

/** A range of one's own is at least this long, and at most this. */
export const MIN_RANGE_MS = 10 * MINUTE_MS
const MAX_RANGE_MS = 30 * DAY_MS
const FINE_UP_TO_MS = 2 * DAY_MS

/** The range that an address names: `from` and `to` in UTC, or `range`; 24 hours by default. */
export function readRange(search: URLSearchParams, nowMs: number): ShownRange {
  const [from, to] = [parseUtc(search.get('from')), parseUtc(search.get('to'))]
  if (from === null || to === null || to <= from) {
    const name = parseRange(search)
    const { step, stepMs, heatStep } = RANGES[name]
    return { name, ...computeSpan(name, nowMs), step, stepMs, heatStep }
  }
  const toMs = Math.max(to, from + MIN_RANGE_MS)
  const fromMs = Math.max(from, toMs - MAX_RANGE_MS)
  const isFine = toMs - fromMs <= FINE_UP_TO_MS
  const heatStep = toMs - fromMs <= DAY_MS / 2 ? '5m' : '1h'
  return { name: null, fromMs, toMs, step: isFine ? '5m' : '1h', stepMs: isFine ? 300_000 : HOUR_MS, heatStep }
}

/** A time as fields and addresses have it, in UTC: `2026-11-22T15:00`. */
export const toUtcText = (ms: number): string => new Date(ms).toISOString().slice(0, 16)

/** The time in ms, down to the whole 5 minutes; null for other texts. */
function parseUtc(text: string | null): number | null {
  if (text === null || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z?$/.test(text)) return null
  const ms = Date.parse(text.endsWith('Z') ? text : `${text}Z`)
  return Number.isNaN(ms) ? null : Math.floor(ms / 300_000) * 300_000
}

/** The offered range that an address names, 24 hours by default. */
export function parseRange(search: URLSearchParams): RangeName {
  const wanted = search.get('range')
  return RANGE_NAMES.find(name => name === wanted) ?? '24h'
}

export const getRange = (name: RangeName) => RANGES[name]

/**
 * The times of a range. It ends at the next full hour, so that the reads of an open page stay the same for an hour.
 */
export function computeSpan(name: RangeName, nowMs: number): { fromMs: number; toMs: number } {
  const toMs = Math.ceil(nowMs / HOUR_MS) * HOUR_MS
  return { fromMs: toMs - RANGES[name].ms, toMs }
}
