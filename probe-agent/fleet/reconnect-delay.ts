const MIN_DELAY_MS = 500
/** All are back well before the ten seconds in which a control plane that returned gives up who is missing. */
const MAX_DELAY_MS = 4_000
const MIN_REFUSED_DELAY_MS = 30_000
const MAX_REFUSED_DELAY_MS = 60_000

/**
 * How long to wait before the next connection, in ms: full jitter over an exponential back-off, so that 1,000 probes do
 * not come back in the same moment. A probe whose token was refused asks rarely: a person has to act.
 *
 * @param failures connections lost or failed since the last that worked, from 1
 * @param random from 0 to 1
 */
export function computeReconnectDelayMs(failures: number, isRefused: boolean, random: number): number {
  if (isRefused) return MIN_REFUSED_DELAY_MS + random * (MAX_REFUSED_DELAY_MS - MIN_REFUSED_DELAY_MS)
  const ceiling = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** failures)
  return MIN_DELAY_MS + random * (ceiling - MIN_DELAY_MS)
}
