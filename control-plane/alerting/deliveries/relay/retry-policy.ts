import { computePostponementMs, type DeliveryProgress, isSuccess } from '../attempts/retry-policy.ts'
import type { DeliveryOutcome } from '../types.ts'

/** How long the built-in relay tries, from the handover of a message (docs/design/deliveries.md#relay). */
export const MAX_RELAY_AGE_MS = 24 * 3_600_000

const FIRST_RETRY_DELAY_MS = 10_000
const MAX_RETRY_DELAY_MS = 2 * 3_600_000

/** A wait is shortened by up to this fraction at random, so that messages that failed together are not retried together. */
const JITTER = 0.2

/** How many requests the relay sends to one destination at the same time, as many as a channel sends from its lanes. */
export const MAX_DESTINATION_CONCURRENCY = 8

export type RelayRetryDecision = 'delivered' | 'dead' | { retryAt: Date }

/** A message in the relay. `failures` does not include the current attempt. */
type RelayProgress = Pick<DeliveryProgress, 'uncountedAttempts'> & { handedOverAt: Date; failures: number }

/**
 * What follows an attempt. A message is dead when its receiver refuses it, or when the next attempt would be more than 24
 * hours after the handover. A fault of Picket is not a failure of the receiver, and does not make later waits longer. `chance`
 * from 0 to 1 selects the jitter.
 */
export function decideRelayRetry(
  message: RelayProgress,
  outcome: DeliveryOutcome,
  chance: number,
  now: Date,
): RelayRetryDecision {
  if (isSuccess(outcome)) return 'delivered'
  if (outcome.isPermanent) return 'dead'
  const maxMs = outcome.ownFault
    ? computePostponementMs(message.uncountedAttempts)
    : Math.min(FIRST_RETRY_DELAY_MS * 2 ** message.failures, MAX_RETRY_DELAY_MS)
  const waitMs = maxMs * (1 - JITTER * chance)
  const retryAt = new Date(now.getTime() + Math.round(waitMs))
  return retryAt > computeRelayDeadline(message) ? 'dead' : { retryAt }
}

const computeRelayDeadline = ({ handedOverAt }: Pick<RelayProgress, 'handedOverAt'>) =>
  new Date(handedOverAt.getTime() + MAX_RELAY_AGE_MS)
