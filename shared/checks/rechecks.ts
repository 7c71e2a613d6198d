/** How re-checks follow each other; the same for probes, for what waits for them, and for what is promised of them. */

/** Waits after the end of the first, second, … attempt that failed with an answer, in ms; the last one for all that follow. */
const RECHECK_DELAYS_MS = [1_000, 3_000, 5_000]

/** A region whose failures are doubted checks again after so long at the latest, in ms. */
export const DOUBT_RECHECK_DELAY_MS = 30_000

/** How long an attempt is silent, at the latest, before the next one starts: 5 s or a third of its timeout. */
const MAX_SILENCE_MS = 5_000
const SHARE_OF_TIMEOUT = 1 / 3

/** The wait after attempt number `attempt` (from 1), in ms. */
export const getRecheckDelayMs = (attempt: number): number =>
  RECHECK_DELAYS_MS[attempt - 1] ?? RECHECK_DELAYS_MS[RECHECK_DELAYS_MS.length - 1]!

/** All waits of a chain with `retryCount` re-checks, in ms. */
export function sumRecheckDelaysMs(retryCount: number): number {
  let sum = 0
  for (let attempt = 1; attempt <= retryCount; attempt++) sum += getRecheckDelayMs(attempt)
  return sum
}

/** How long an attempt is silent before the next one starts, in ms, when the target's answers are usually quick. */
export const computeUsualSilenceMs = (timeoutMs: number): number =>
  Math.min(MAX_SILENCE_MS, timeoutMs * SHARE_OF_TIMEOUT)
