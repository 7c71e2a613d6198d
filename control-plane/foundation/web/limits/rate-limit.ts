export type RateLimitUsage = { allowed: boolean; limit: number; remaining: number; resetSeconds: number }

/** Counts one request of `key` at `nowMs`. */
type RateLimit = (key: string, nowMs: number) => RateLimitUsage

const WINDOW_MS = 60_000

/** Allows `limit` requests a minute for each key, in windows of the clock's minutes. Only keys of this minute are stored. */
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
