/**
 * Another machine's clock, carried by our own monotonic one. Probes follow the control plane's clock this way (decisions
 * 4.6), the control plane follows those of NATS and PostgreSQL. Our own wall clock takes no part in it.
 */

/** One answer: how far the other clock is ahead of our monotonic one, known to half the round trip. */
export type ClockSample = { offsetMs: number; roundTripMs: number }

/** Enough to catch a quick answer, few enough not to feel our own drift. */
const MAX_SAMPLES = 12
/** Quartzes differ by some ten millionths, and answers carry whole milliseconds. */
const TOLERANCE_MS = 2

/** The other clock was read somewhere in the round trip; its middle is the best guess. */
export function measureClockOffset(sentMs: number, receivedMs: number, remoteNowMs: number): ClockSample {
  return { offsetMs: remoteNowMs - (sentMs + receivedMs) / 2, roundTripMs: receivedMs - sentMs }
}

/**
 * Takes a new sample in. Samples that contradict it show that the other clock was set since, and are forgotten.
 * Oldest first.
 */
export function addClockSample(samples: readonly ClockSample[], newest: ClockSample): ClockSample[] {
  const agreeing = samples.filter(
    sample =>
      Math.abs(sample.offsetMs - newest.offsetMs) <= (sample.roundTripMs + newest.roundTripMs) / 2 + TOLERANCE_MS,
  )
  return [...agreeing, newest].slice(-MAX_SAMPLES)
}

/** The offset of the sample with the smallest round trip, in ms; null before the first. */
export function pickBestOffsetMs(samples: readonly ClockSample[]): number | null {
  let best: ClockSample | null = null
  for (const sample of samples) if (best === null || sample.roundTripMs < best.roundTripMs) best = sample
  return best === null ? null : best.offsetMs
}

export type RemoteClock = {
  /**
   * Takes in an answer; the first two arguments by the monotonic clock. Returns by how much the clock moved because of
   * it, in ms: next to nothing while both clocks run, and the whole step when one was set. The first answer moves nothing.
   */
  learn: (sentMs: number, receivedMs: number, remoteNowMs: number) => number
  /** ms since 1970 by the other clock; null before the first answer */
  nowMs: () => number | null
}

export function createRemoteClock(monotonicMs: () => number): RemoteClock {
  let samples: ClockSample[] = []
  let offsetMs: number | null = null
  return {
    learn(sentMs, receivedMs, remoteNowMs) {
      samples = addClockSample(samples, measureClockOffset(sentMs, receivedMs, remoteNowMs))
      const before = offsetMs
      offsetMs = pickBestOffsetMs(samples)
      return before === null || offsetMs === null ? 0 : offsetMs - before
    },
    nowMs: () => (offsetMs === null ? null : monotonicMs() + offsetMs),
  }
}
