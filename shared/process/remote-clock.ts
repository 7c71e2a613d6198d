/**
 * The clock of another machine, carried forward by the local monotonic clock. Probes follow the control plane's clock, the
 * control plane those of NATS and PostgreSQL. The local wall clock is not used.
 */

/** One sample: the offset of the remote clock from the local monotonic clock, accurate to half the round trip. */
export type ClockSample = { offsetMs: number; roundTripMs: number }

/** Enough to include a short round trip, few enough that drift does not matter. */
const MAX_SAMPLES = 12
/** Clocks drift by some parts in ten million, and answers have a resolution of 1 ms. */
const TOLERANCE_MS = 2

/** Assumes that the remote clock was read in the middle of the round trip. */
export function measureClockOffset(sentMs: number, receivedMs: number, remoteNowMs: number): ClockSample {
  return { offsetMs: remoteNowMs - (sentMs + receivedMs) / 2, roundTripMs: receivedMs - sentMs }
}

/**
 * Adds a new sample. Samples that contradict it are removed, because the remote clock was set since. Oldest first.
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
   * Adds a sample; the first two arguments are by the monotonic clock. Returns the change of the offset in ms: almost 0
   * normally, and the full step when one of the clocks was set. The first sample returns 0.
   */
  learn: (sentMs: number, receivedMs: number, remoteNowMs: number) => number
  /** ms since 1970 by the remote clock; null before the first sample */
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
