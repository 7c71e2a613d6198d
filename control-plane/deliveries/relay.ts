import { isSuccess } from './attempt.ts'
import type { Outcome } from './types.ts'

/** The built-in relay goes on for so long after a message was handed over (decisions 6.6). */
export const RELAY_FOR_MS = 24 * 3_600_000

const FIRST_WAIT_MS = 10_000
const LONGEST_WAIT_MS = 2 * 3_600_000

/** A wait is shorter by up to this part of it, so that what failed together does not come back together. */
const JITTER = 0.2

/** What the relay sends to one destination at once; a receiver is met by no more than from a channel's own queue. */
export const DESTINATION_CONCURRENCY = 8

export type RelayNext = 'delivered' | 'dead' | { retryAt: Date }

/** A message in the relay: how often it has failed, not counting the attempt that is judged. `chance` from 0 to 1. */
export type Relayed = { handedOverAt: Date; failures: number }

/**
 * What becomes of a message after an attempt. It is dead when its receiver refuses it, or when the next attempt would come
 * more than a day after it was handed over.
 */
export function relayAttempt(message: Relayed, outcome: Outcome, chance: number, now: Date): RelayNext {
  if (isSuccess(outcome)) return 'delivered'
  if (outcome.isPermanent) return 'dead'
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** message.failures, LONGEST_WAIT_MS) * (1 - JITTER * chance)
  const retryAt = new Date(now.getTime() + Math.round(waitMs))
  return retryAt > relayEnd(message) ? 'dead' : { retryAt }
}

export const relayEnd = ({ handedOverAt }: Pick<Relayed, 'handedOverAt'>) =>
  new Date(handedOverAt.getTime() + RELAY_FOR_MS)
