import { createMinuteWindow } from './minute-window.ts'

export type RateLimitUsage = { allowed: boolean; limit: number; remaining: number; resetSeconds: number }

/** Counts one request of `key` at `nowMs`. */
type RateLimit = (key: string, nowMs: number) => RateLimitUsage

/** Allows `limit` requests a minute for each key, in windows of the clock's minutes. */
export function createRateLimit(limit: number): RateLimit {
  const window = createMinuteWindow()
  return (key, nowMs) => {
    const counts = window.countsAt(nowMs)
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return {
      allowed: count <= limit,
      limit,
      remaining: Math.max(0, limit - count),
      resetSeconds: window.secondsLeft(nowMs),
    }
  }
}
