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

const FIRST_POSTPONEMENT_MS = 5_000
const MAX_POSTPONEMENT_MS = 60_000
const MAX_POSTPONED_AGE_MS = 24 * 3_600_000
/** A replay may be of an old delivery. This number takes about a day. */
const MAX_UNCOUNTED_ATTEMPTS = 1_440

export type DeliveryProgress = {
  createdAt: Date
  isReplay: boolean
  /** attempts in the log that are not among the three: before a replay, or failed by a fault of Picket */
  uncountedAttempts: number
}

/**
 * When an attempt that failed by a fault of Picket is made again; it is not one of the three. Null: there was no such fault,
 * or it lasts longer than a day, and the attempt counts.
 */
export function postponeAttempt(progress: DeliveryProgress, { ownFault }: DeliveryOutcome, now: Date): Date | null {
  const { createdAt, isReplay, uncountedAttempts } = progress
  if (ownFault === undefined) return null
  const isOver = isReplay
    ? uncountedAttempts >= MAX_UNCOUNTED_ATTEMPTS
    : now.getTime() - createdAt.getTime() >= MAX_POSTPONED_AGE_MS
  return isOver ? null : new Date(now.getTime() + computePostponementMs(uncountedAttempts))
}

/** The wait after a fault of Picket: from 5 s, doubled up to a minute. */
export const computePostponementMs = (uncountedAttempts: number): number =>
  Math.min(FIRST_POSTPONEMENT_MS * 2 ** uncountedAttempts, MAX_POSTPONEMENT_MS)

/** Any 2xx, of HTTP or SMTP. For messages to the API of a chat the result in the response counts. */
export function isSuccess({ responseCode, chat }: Pick<DeliveryOutcome, 'responseCode' | 'chat'>): boolean {
  if (chat) return chat.ok
  return responseCode !== null && responseCode >= 200 && responseCode < 300
}
