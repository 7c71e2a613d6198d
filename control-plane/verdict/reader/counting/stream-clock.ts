import { type ClockTolerance, DEFAULT_TOLERANCE } from '../../core/rules/result-order.ts'

/**
 * JetStream's clock as the reader of a partition sees it, message by message. A message cannot be from the future, nor
 * from before the previous message. If it seems to be, JetStream's clock was set in between.
 */
export type StreamClock = {
  /** how far JetStream's clock is ahead of the monotonic clock of this process */
  offsetMs: number
  /** the newest message: when JetStream took it, and how much later it was read; null before the first */
  last: { takenAtMs: number; lateMs: number } | null
  /** after the clock was set back: until `untilMs`, results may be ahead by `aheadMs` */
  grace: { aheadMs: number; untilMs: number } | null
}

/** Smaller differences come from the delay of a message, or from clocks that run at slightly different rates. */
const CLOCK_SLACK_MS = 2_000
/** Time for probes to receive the new time, and for chains that had begun before. */
const GRACE_MS = 60_000

export const createStreamClock = (logNowMs: number, monotonicMs: number): StreamClock => ({
  offsetMs: logNowMs - monotonicMs,
  last: null,
  grace: null,
})

/**
 * Processes a message that is read at `monotonicMs`, when JetStream's clock is expected to be at `logNowMs`. Returns by
 * how many ms the clock was set between it and the previous message; 0 if it was not.
 */
export function detectClockStep(time: StreamClock, takenAtMs: number, monotonicMs: number, logNowMs: number): number {
  // follow small differences of the rates; a real step is applied with the message that shows where it happened
  if (Math.abs(logNowMs - monotonicMs - time.offsetMs) < CLOCK_SLACK_MS) time.offsetMs = logNowMs - monotonicMs
  const { last } = time
  const step = last === null ? 0 : computeStep(last, takenAtMs, takenAtMs - (monotonicMs + time.offsetMs))
  time.offsetMs = Math.max(time.offsetMs + step, takenAtMs - monotonicMs)
  time.last = { takenAtMs, lateMs: monotonicMs + time.offsetMs - takenAtMs }
  if (step < 0) time.grace = { aheadMs: -step, untilMs: takenAtMs + GRACE_MS }
  else if (step > 0 || (time.grace && takenAtMs > time.grace.untilMs)) time.grace = null
  return step
}

/** By how much the clock was set back between two consecutive messages, as a negative number; 0 if it was not. */
export function computeSetback(beforeMs: number, takenAtMs: number): number {
  const backMs = takenAtMs - beforeMs
  return backMs > -CLOCK_SLACK_MS ? 0 : backMs
}

/** `earlyMs`: how far the message is in the future, by the previous clock. */
function computeStep(last: NonNullable<StreamClock['last']>, takenAtMs: number, earlyMs: number): number {
  // times of states are whole ms, the monotonic clock is more exact
  if (earlyMs > CLOCK_SLACK_MS) return Math.round(earlyMs)
  const backMs = computeSetback(last.takenAtMs, takenAtMs)
  if (backMs === 0) return 0
  // by the elapsed time if messages are read without delay, otherwise by the difference of both times
  return last.lateMs < CLOCK_SLACK_MS ? Math.round(earlyMs) : backMs
}

/**
 * The tolerance for a message that is read at `monotonicMs`. A high-water mark is compared with the present, however
 * late the message is read.
 */
export function computeTolerance(
  { offsetMs, grace }: StreamClock,
  takenAtMs: number,
  monotonicMs: number,
): ClockTolerance {
  const { futureMs, highWaterMarkMs: fenceMs } = DEFAULT_TOLERANCE
  const lateMs = Math.max(0, monotonicMs + offsetMs - takenAtMs)
  return { futureMs: futureMs + (grace?.aheadMs ?? 0), highWaterMarkMs: fenceMs + lateMs }
}
