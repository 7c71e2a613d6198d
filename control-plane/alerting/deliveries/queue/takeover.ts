/** `isSetAhead`: whether PostgreSQL's clock has been set ahead since the previous call. */
type TakeoverClock = { isSetAhead: () => boolean; monotonicMs: () => number }

/**
 * Returns a function that says whether leases that have ended may be taken over. After PostgreSQL's clock was set ahead, leases
 * seem to have ended while their messages are being sent; for the length of a lease (ms) none is taken over. Call it
 * immediately before the time of the claim is read.
 */
export function createTakeoverGuard(leaseMs: number, { isSetAhead, monotonicMs }: TakeoverClock): () => boolean {
  let allowedMs = Number.NEGATIVE_INFINITY
  return () => {
    if (isSetAhead()) allowedMs = monotonicMs() + leaseMs
    return monotonicMs() >= allowedMs
  }
}
