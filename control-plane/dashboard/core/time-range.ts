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

/** The range that an address names, 24 hours by default. */
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
