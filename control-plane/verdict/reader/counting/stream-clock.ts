import { type ClockTolerance, DEFAULT_TOLERANCE } from '../../core/rules/result-order.ts'

/**
 * JetStream's clock as the reader of a partition meets it, message by message. A message cannot have been taken in the
 * future, nor before the one that it follows: where it says so, JetStream's clock was set in between.
 */
export type StreamClock = {
  /** how far JetStream's clock is ahead of our monotonic one */
  offsetMs: number
  /** of the newest message: when it was taken, and how long after that it was read; null before the first */
  last: { takenAtMs: number; lateMs: number } | null
  /** after a clock was set back: results by the time before it may be ahead by so much until then */
  grace: { aheadMs: number; untilMs: number } | null
}

/** Less is the way of a message, or two clocks that do not run quite alike. */
const CLOCK_SLACK_MS = 2_000
/** Time for probes to hear of the step, and for chains that had begun before it. */
const GRACE_MS = 60_000

export const createStreamClock = (logNowMs: number, monotonicMs: number): StreamClock => ({
  offsetMs: logNowMs - monotonicMs,
  last: null,
  grace: null,
})

/**
 * Takes in a message that is read at `monotonicMs`, when JetStream's clock is known to say `logNowMs`. Answers by how much the
 * clock was set between it and the message before, in ms; 0 when it was not.
 */
export function detectClockStep(time: StreamClock, takenAtMs: number, monotonicMs: number, logNowMs: number): number {
  // two clocks never run quite alike; a real step waits for the message that shows where it was
  if (Math.abs(logNowMs - monotonicMs - time.offsetMs) < CLOCK_SLACK_MS) time.offsetMs = logNowMs - monotonicMs
  const { last } = time
  const step = last === null ? 0 : computeStep(last, takenAtMs, takenAtMs - (monotonicMs + time.offsetMs))
  time.offsetMs = Math.max(time.offsetMs + step, takenAtMs - monotonicMs)
  time.last = { takenAtMs, lateMs: monotonicMs + time.offsetMs - takenAtMs }
  if (step < 0) time.grace = { aheadMs: -step, untilMs: takenAtMs + GRACE_MS }
  else if (step > 0 || (time.grace && takenAtMs > time.grace.untilMs)) time.grace = null
  return step
}

/** By how much the clock was set back between two messages that follow each other, as a negative number; 0: not at all. */
export function computeSetback(beforeMs: number, takenAtMs: number): number {
  const backMs = takenAtMs - beforeMs
  return backMs > -CLOCK_SLACK_MS ? 0 : backMs
}

/** `earlyMs`: how far the message lies in the future, by the clock as it was. */
function computeStep(last: NonNullable<StreamClock['last']>, takenAtMs: number, earlyMs: number): number {
  if (earlyMs > CLOCK_SLACK_MS) return earlyMs
  const backMs = computeSetback(last.takenAtMs, takenAtMs)
  if (backMs === 0) return 0
  // by the time since then where messages are read as they come, else by what both say
  return last.lateMs < CLOCK_SLACK_MS ? earlyMs : backMs
}

/** What may be ahead of a message that is read at `monotonicMs`: a fence is held against the present, however late the message is. */
export function computeTolerance(
  { offsetMs, grace }: StreamClock,
  takenAtMs: number,
  monotonicMs: number,
): ClockTolerance {
  const { futureMs, highWaterMarkMs: fenceMs } = DEFAULT_TOLERANCE
  const lateMs = Math.max(0, monotonicMs + offsetMs - takenAtMs)
  return { futureMs: futureMs + (grace?.aheadMs ?? 0), highWaterMarkMs: fenceMs + lateMs }
}
