import { isSuccess } from '../attempts/retry-policy.ts'
import type { DeliveryOutcome } from '../types.ts'

/** The built-in relay goes on for so long after a message was handed over (decisions 6.6). */
export const MAX_RELAY_AGE_MS = 24 * 3_600_000

const FIRST_RETRY_DELAY_MS = 10_000
const MAX_RETRY_DELAY_MS = 2 * 3_600_000

/** A wait is shorter by up to this part of it, so that what failed together does not come back together. */
const JITTER = 0.2

/** What the relay sends to one destination at once; a receiver is met by no more than from a channel's own queue. */
export const MAX_DESTINATION_CONCURRENCY = 8

export type RelayRetryDecision = 'delivered' | 'dead' | { retryAt: Date }

/** A message in the relay: how often it has failed, not counting the attempt that is judged. `chance` from 0 to 1. */
export type RelayProgress = { handedOverAt: Date; failures: number }

/**
 * What becomes of a message after an attempt. It is dead when its receiver refuses it, or when the next attempt would come
 * more than a day after it was handed over.
 */
export function decideRelayRetry(
  message: RelayProgress,
  outcome: DeliveryOutcome,
  chance: number,
  now: Date,
): RelayRetryDecision {
  if (isSuccess(outcome)) return 'delivered'
  if (outcome.isPermanent) return 'dead'
  const waitMs = Math.min(FIRST_RETRY_DELAY_MS * 2 ** message.failures, MAX_RETRY_DELAY_MS) * (1 - JITTER * chance)
  const retryAt = new Date(now.getTime() + Math.round(waitMs))
  return retryAt > computeRelayDeadline(message) ? 'dead' : { retryAt }
}

export const computeRelayDeadline = ({ handedOverAt }: Pick<RelayProgress, 'handedOverAt'>) =>
  new Date(handedOverAt.getTime() + MAX_RELAY_AGE_MS)
