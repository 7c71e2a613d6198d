/** A smaller change is a clock that is adjusted. */
const MIN_STEP_MS = 1_000

/** The time that another clock had at some moment between two moments of the monotonic clock, in ms. */
type ClockReading = { clockMs: number; askedMs: number; answeredMs: number }

/**
 * Returns a function that returns whether the other clock was set, ahead or back, since the previous reading. A slow answer
 * does not count as a step.
 */
export function createClockStepDetector(): (reading: ClockReading) => boolean {
  let previous = { minAheadMs: Number.NEGATIVE_INFINITY, maxAheadMs: Number.POSITIVE_INFINITY }
  return ({ clockMs, askedMs, answeredMs }) => {
    const next = { minAheadMs: clockMs - answeredMs, maxAheadMs: clockMs - askedMs }
    const isStep =
      next.minAheadMs > previous.maxAheadMs + MIN_STEP_MS || next.maxAheadMs < previous.minAheadMs - MIN_STEP_MS
    previous = next
    return isStep
  }
}
