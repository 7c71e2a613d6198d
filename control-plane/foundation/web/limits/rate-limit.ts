export type RateLimitUsage = { allowed: boolean; limit: number; remaining: number; resetSeconds: number }

/** Counts one request of `key` at `nowMs`. */
export type RateLimit = (key: string, nowMs: number) => RateLimitUsage

const WINDOW_MS = 60_000

/** `limit` requests a minute a key, in windows of the clock's minutes; it remembers only the keys of this minute. */
export function createRateLimit(limit: number): RateLimit {
  let window = 0
  let counts = new Map<string, number>()
  return (key, nowMs) => {
    const current = Math.floor(nowMs / WINDOW_MS)
    if (current !== window) {
      window = current
      counts = new Map()
    }
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return {
      allowed: count <= limit,
      limit,
      remaining: Math.max(0, limit - count),
      resetSeconds: Math.ceil(((current + 1) * WINDOW_MS - nowMs) / 1_000),
    }
  }
}
