/**
 * The control plane's clock, carried by the probe's monotonic one (decisions 4.6). The wall clock of the probe is only
 * shown to the operator, so one that is an hour off changes nothing.
 */

/** One heartbeat answered: how far the control plane's clock is ahead of ours, known to half the round trip. */
export type ClockSample = { offsetMs: number; roundTripMs: number }

/** Twelve heartbeats are half a minute: long enough to catch a quick answer, short enough not to feel our own drift. */
const SAMPLES_KEPT = 12
/** Quartzes differ by some ten millionths, and acks carry whole milliseconds. */
const TOLERANCE_MS = 2

/** The control plane's time was read somewhere in the round trip; its middle is the best guess. */
export function clockSample(sentMs: number, receivedMs: number, fleetNowMs: number): ClockSample {
  return { offsetMs: fleetNowMs - (sentMs + receivedMs) / 2, roundTripMs: receivedMs - sentMs }
}

/**
 * Takes a new sample in. Samples that contradict it show that the other clock was set since, and are forgotten.
 * Oldest first.
 */
export function withSample(samples: readonly ClockSample[], newest: ClockSample): ClockSample[] {
  const agreeing = samples.filter(
    sample =>
      Math.abs(sample.offsetMs - newest.offsetMs) <= (sample.roundTripMs + newest.roundTripMs) / 2 + TOLERANCE_MS,
  )
  return [...agreeing, newest].slice(-SAMPLES_KEPT)
}

/** The offset of the sample with the smallest round trip, in ms; null before the first. */
export function bestOffsetMs(samples: readonly ClockSample[]): number | null {
  let best: ClockSample | null = null
  for (const sample of samples) if (best === null || sample.roundTripMs < best.roundTripMs) best = sample
  return best === null ? null : best.offsetMs
}

export type FleetClock = {
  /** Takes in an answered heartbeat; the first two arguments by the monotonic clock. */
  learn: (sentMs: number, receivedMs: number, fleetNowMs: number) => void
  /** ms since 1970 by the control plane's clock; null before the first answer */
  nowMs: () => number | null
}

export function createFleetClock(monotonicMs: () => number): FleetClock {
  let samples: ClockSample[] = []
  let offsetMs: number | null = null
  return {
    learn(sentMs, receivedMs, fleetNowMs) {
      samples = withSample(samples, clockSample(sentMs, receivedMs, fleetNowMs))
      offsetMs = bestOffsetMs(samples)
    },
    nowMs: () => (offsetMs === null ? null : monotonicMs() + offsetMs),
  }
}
