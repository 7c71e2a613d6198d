import { computeUsualSilenceMs } from '../../../shared/checks/rechecks.ts'

/** The number of recent answers, and the allowed multiple of their 99th percentile. */
const RECENT_ANSWERS = 100
const TIMES_SLOWEST = 1.5

/** The number of answers of a target, and the slow ones among the last 100. `index`: the number of the answer. */
export type ResponseTimes = { count: number; slow: readonly { index: number; ms: number }[] }

export const createResponseTimes = (): ResponseTimes => ({ count: 0, slow: [] })

/**
 * How long an attempt may be silent before the next one starts, in ms (docs/design/probes.md#silence-limit). For a target
 * whose recent answers are slower: 1.5 times their 99th percentile, at most the timeout, so it does not get more load.
 */
export function computeSilenceLimitMs(timeoutMs: number, { count, slow }: ResponseTimes): number {
  const usual = computeUsualSilenceMs(timeoutMs)
  // the nearest rank: of 100 answers the second slowest, of fewer the slowest
  const isTolerated = count >= RECENT_ANSWERS ? 1 : 0
  if (slow.length <= isTolerated) return usual
  const p99 = slow.map(({ ms }) => ms).sort((a, b) => b - a)[isTolerated]!
  return Math.min(timeoutMs, p99 * TIMES_SLOWEST)
}

/** Records an answer that arrived after `ms`. Only slow answers are kept; most targets have none. */
export function recordResponseTime(answers: ResponseTimes, timeoutMs: number, ms: number): void {
  answers.count++
  const isSlow = ms > computeUsualSilenceMs(timeoutMs)
  if (!isSlow && answers.slow.length === 0) return
  const recent = answers.slow.filter(({ index }) => index > answers.count - RECENT_ANSWERS)
  answers.slow = isSlow ? [...recent, { index: answers.count, ms }] : recent
}
