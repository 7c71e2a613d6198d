const MIN_DELAY_MS = 500
/** Shorter than the 10 s after which a restarted control plane removes missing probes from the live set. */
const MAX_DELAY_MS = 4_000
const MIN_REFUSED_DELAY_MS = 30_000
const MAX_REFUSED_DELAY_MS = 60_000

/**
 * The delay before the next connection, in ms: exponential back-off with full jitter, so that 1,000 probes do not
 * reconnect at the same moment. A probe whose credentials were refused retries rarely, because a person has to act.
 *
 * @param failures connections lost or failed since the last successful one, from 1
 * @param random from 0 to 1
 */
export function computeReconnectDelayMs(failures: number, isRefused: boolean, random: number): number {
  if (isRefused) return MIN_REFUSED_DELAY_MS + random * (MAX_REFUSED_DELAY_MS - MIN_REFUSED_DELAY_MS)
  const ceiling = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** failures)
  return MIN_DELAY_MS + random * (ceiling - MIN_DELAY_MS)
}
