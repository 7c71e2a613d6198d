import { createMinuteWindow } from '../../../foundation/web/limits/minute-window.ts'
import { createMissCounter } from '../../../foundation/web/limits/miss-counter.ts'
import { createRateLimit, type RateLimitUsage } from '../../../foundation/web/limits/rate-limit.ts'
import type { PingOutcome } from '../types.ts'

/**
 * Different unknown tokens a minute and client. Over this limit, only tokens that this process has accepted before are
 * looked up.
 */
const GUESSES_PER_MINUTE = 60
/** How often a minute the same unknown token is looked up. */
const MISSES_PER_TOKEN = 60
const MAX_KNOWN_TOKENS = 100_000

type PingLimits = {
  /** Counts one ping. Returns whether it is allowed. */
  use(token: string, client: string, nowMs: number): RateLimitUsage
  /** Records the outcome. A token that could not be looked up counts as a guess unless this process has accepted it. */
  record(token: string, client: string, outcome: PingOutcome, nowMs: number): void
}

/**
 * Two limits: pings of a token, for a job in a loop; and unknown tokens of a client, for guesses. A token that this
 * process has accepted is not a guess, even if other users share the address. An unknown token that is repeated is one
 * guess, so that a job whose monitor was deleted does not stop the jobs that share its address.
 */
export function createPingLimits(pingsPerMinute: number): PingLimits {
  const ofToken = createRateLimit(pingsPerMinute)
  const accepted = new Set<string>()
  const guesses = createMissCounter(GUESSES_PER_MINUTE)
  const misses = createMinuteWindow()
  return {
    use(token, client, nowMs) {
      const use = ofToken(token, nowMs)
      const isGuessing = guesses.waitSeconds(client, nowMs) > 0 && !accepted.has(token)
      const isMissing = (misses.countsAt(nowMs).get(token) ?? 0) >= MISSES_PER_TOKEN
      return isGuessing || isMissing ? { ...use, allowed: false } : use
    },
    record(token, client, outcome, nowMs) {
      if (outcome === 'kept' && accepted.has(token)) return
      if (outcome !== 'stored') {
        const counts = misses.countsAt(nowMs)
        const missesBefore = counts.get(token) ?? 0
        if (missesBefore === 0) guesses.count(client, nowMs)
        if (outcome === 'unknown') counts.set(token, missesBefore + 1)
        return
      }
      if (accepted.size >= MAX_KNOWN_TOKENS) accepted.clear()
      accepted.add(token)
    },
  }
}
