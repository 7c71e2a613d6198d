/** The timing of re-checks. Probes, the verdict and the guarantee of a monitor use the same values. */

/** Delays after the end of the first, second, … attempt, in ms; the last one is repeated. */
const RECHECK_DELAYS_MS = [1_000, 3_000, 5_000]

/** The delay after a better attempt, before the one that confirms it, in ms. */
export const CONFIRM_BETTER_DELAY_MS = 5_000

/** Maximum delay of the next check in a region whose failures are doubted, in ms. */
export const DOUBT_RECHECK_DELAY_MS = 30_000

/** An attempt may be silent for 5 s or a third of its timeout, whichever is less, before the next one starts. */
const MAX_SILENCE_MS = 5_000
const SHARE_OF_TIMEOUT = 1 / 3

/** The delay after attempt number `attempt` (from 1), in ms. */
export const getRecheckDelayMs = (attempt: number): number =>
  RECHECK_DELAYS_MS[attempt - 1] ?? RECHECK_DELAYS_MS[RECHECK_DELAYS_MS.length - 1]!

/** The sum of all delays of a chain with `retryCount` re-checks, in ms. */
export function sumRecheckDelaysMs(retryCount: number): number {
  let sum = 0
  for (let attempt = 1; attempt <= retryCount; attempt++) sum += getRecheckDelayMs(attempt)
  return sum
}

/** The longest time of a chain, in ms: each attempt takes its whole timeout, and none overlap. */
export const computeMaxChainMs = (timeoutMs: number, retryCount: number): number =>
  (retryCount + 1) * timeoutMs + sumRecheckDelaysMs(retryCount)

/** The silence limit for a target that usually answers quickly, in ms. */
export const computeUsualSilenceMs = (timeoutMs: number): number =>
  Math.min(MAX_SILENCE_MS, timeoutMs * SHARE_OF_TIMEOUT)
