import { createMissCounter } from '../../../foundation/web/limits/miss-counter.ts'
import { createRateLimit, type RateLimitUsage } from '../../../foundation/web/limits/rate-limit.ts'
import type { PingOutcome } from '../types.ts'

/** Unknown tokens a minute and client; past it, its tokens that are not familiar are not looked up any more. */
const GUESSES_PER_MINUTE = 60
const MAX_KNOWN_TOKENS = 100_000

export type PingLimits = {
  /** counts one ping, and says whether it may be taken */
  use(token: string, client: string, nowMs: number): RateLimitUsage
  /** what became of it; a token that could not be looked up counts as a guess until this process knows it */
  record(token: string, client: string, outcome: PingOutcome, nowMs: number): void
}

/**
 * Two limits: a token's own, so that a job in a loop floods nothing, and a client's for guesses. A token that this
 * process has taken a ping for is no guess, whoever shares its client's address.
 */
export function createPingLimits(pingsPerMinute: number): PingLimits {
  const ofToken = createRateLimit(pingsPerMinute)
  const familiar = new Set<string>()
  const guesses = createMissCounter(GUESSES_PER_MINUTE)
  return {
    use(token, client, nowMs) {
      const use = ofToken(token, nowMs)
      const isGuessing = guesses.waitSeconds(client, nowMs) > 0 && !familiar.has(token)
      return isGuessing ? { ...use, allowed: false } : use
    },
    record(token, client, outcome, nowMs) {
      if (outcome === 'kept' && familiar.has(token)) return
      if (outcome !== 'stored') {
        guesses.count(client, nowMs)
        return
      }
      if (familiar.size >= MAX_KNOWN_TOKENS) familiar.clear()
      familiar.add(token)
    },
  }
}
