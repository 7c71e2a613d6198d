import type { DeliveryOutcome } from '../types.ts'

/** Attempt 2 starts 1 s after attempt 1 has failed, attempt 3 starts 5 s after attempt 2 has (decisions 6.3). */
const RETRY_DELAYS_MS = [1_000, 5_000]

export type RetryDecision = 'delivered' | 'failed' | { retryAt: Date }

/**
 * What becomes of a delivery after its attempt number `made` (from 1) (specification, "Delivery and retries" 2 and 3).
 * The provider of a chat may ask for a longer wait before the next one.
 */
export function decideRetry(made: number, outcome: DeliveryOutcome, now: Date): RetryDecision {
  if (isSuccess(outcome)) return 'delivered'
  const waitMs = RETRY_DELAYS_MS[made - 1]
  if (waitMs === undefined || outcome.isPermanent) return 'failed'
  const askedForMs = outcome.chat?.ok === false ? (outcome.chat.retryAfterMs ?? 0) : 0
  return { retryAt: new Date(now.getTime() + Math.max(waitMs, askedForMs)) }
}

/** Any 2xx; mail has its codes translated, and a chat's provider refuses with 200. */
export function isSuccess({ responseCode, chat }: Pick<DeliveryOutcome, 'responseCode' | 'chat'>): boolean {
  if (chat) return chat.ok
  return responseCode !== null && responseCode >= 200 && responseCode < 300
}
