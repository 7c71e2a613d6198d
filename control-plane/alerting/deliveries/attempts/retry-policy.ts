import type { DeliveryOutcome } from '../types.ts'

/** Attempt 2 starts 1 s after attempt 1 has failed, attempt 3 starts 5 s after attempt 2 has failed. */
const RETRY_DELAYS_MS = [1_000, 5_000]

type RetryDecision = 'delivered' | 'failed' | { retryAt: Date }

/**
 * What follows attempt number `made` (from 1) of a delivery (docs/design/deliveries.md#retries). The provider of a chat
 * may ask for a longer wait.
 */
export function decideRetry(made: number, outcome: DeliveryOutcome, now: Date): RetryDecision {
  if (isSuccess(outcome)) return 'delivered'
  const waitMs = RETRY_DELAYS_MS[made - 1]
  if (waitMs === undefined || outcome.isPermanent) return 'failed'
  const requestedMs = outcome.chat?.ok === false ? (outcome.chat.retryAfterMs ?? 0) : 0
  return { retryAt: new Date(now.getTime() + Math.max(waitMs, requestedMs)) }
}

/** Any 2xx, of HTTP or SMTP. For messages to the API of a chat the result in the response counts. */
export function isSuccess({ responseCode, chat }: Pick<DeliveryOutcome, 'responseCode' | 'chat'>): boolean {
  if (chat) return chat.ok
  return responseCode !== null && responseCode >= 200 && responseCode < 300
}
