import type { CheckLoop } from '../schedule/loop.ts'

type Load = ReturnType<CheckLoop['load']>

/**
 * Gives heartbeats and scrapes the peaks since their own previous read. The loop resets its peaks at each read, so a peak
 * that one of them reads is kept for the other.
 */
export function trackPeakLoad(read: () => Load): { forHeartbeat: () => Load; forScrape: () => Load } {
  const unseen = { heartbeat: NO_PEAKS, scrape: NO_PEAKS }

  function readFor(reader: keyof typeof unseen): Load {
    const load = read()
    unseen.heartbeat = maxOfBoth(unseen.heartbeat, load)
    unseen.scrape = maxOfBoth(unseen.scrape, load)
    const peaks = unseen[reader]
    unseen[reader] = NO_PEAKS
    return { ...load, ...peaks }
  }

  return { forHeartbeat: () => readFor('heartbeat'), forScrape: () => readFor('scrape') }
}

type Peaks = Pick<Load, 'loopLagMs' | 'startDelayMs'>
const NO_PEAKS: Peaks = { loopLagMs: 0, startDelayMs: 0 }

function maxOfBoth(one: Peaks, other: Peaks): Peaks {
  return {
    loopLagMs: Math.max(one.loopLagMs, other.loopLagMs),
    startDelayMs: Math.max(one.startDelayMs, other.startDelayMs),
  }
}
