/** After so long a check only waits for its target and costs next to nothing. */
const FRESH_MS = 2000
/** How many more may wait than may be fresh. */
const WAITING_FACTOR = 10
/**
 * A tenant may hold at most this many times the places that are still free. So one tenant alone stops at 80 % of the
 * places, two together at 89 %, and there is always room for the next one.
 */
const SHARE_OF_FREE = 4

export type CheckPermit = { takenMs: number; isFresh: boolean; isTaken: boolean; tenant: number }

/** Why there is no place: all are taken, or this tenant has its share. */
export type PermitRefusal = 'full' | 'share'

/**
 * Limits on concurrent checks. A check holds one of `limit` places for its first 2 s; one that goes on waiting gives its
 * place to others and is counted against ten times as many. So when a third of all targets turns into black holes, the
 * rest still starts on time. Times by the monotonic clock.
 */
export type CheckPermits = {
  /** `isShared`: other tenants have monitors here too, so that the tenant gets no more than its share */
  acquire: (nowMs: number, tenant?: number, isShared?: boolean) => CheckPermit | PermitRefusal
  release: (place: CheckPermit) => void
  countHeld: () => number
}

/** Places that a tenant holds. */
type TenantUse = { fresh: number; taken: number }

export function createCheckPermits(limit: number): CheckPermits {
  const mostTaken = limit * WAITING_FACTOR
  const uses = new Map<number, TenantUse>()
  let fresh = 0
  let taken = 0
  let oldestFirst: CheckPermit[] = []
  let next = 0

  function age(nowMs: number): void {
    for (; next < oldestFirst.length; next++) {
      const place = oldestFirst[next]!
      if (place.isTaken && nowMs - place.takenMs < FRESH_MS) break
      endFreshness(place)
    }
    if (next > 1000) {
      oldestFirst = oldestFirst.slice(next)
      next = 0
    }
  }

  function endFreshness(place: CheckPermit): void {
    if (!place.isFresh) return
    place.isFresh = false
    fresh--
    const use = uses.get(place.tenant)
    if (use) use.fresh--
  }

  const hasItsShare = (use: TenantUse) =>
    use.fresh >= SHARE_OF_FREE * (limit - fresh) || use.taken >= SHARE_OF_FREE * (mostTaken - taken)

  return {
    acquire(nowMs, tenant = 0, isShared = false) {
      age(nowMs)
      if (fresh >= limit || taken >= mostTaken) return 'full'
      const use = uses.get(tenant) ?? { fresh: 0, taken: 0 }
      if (isShared && hasItsShare(use)) return 'share'
      uses.set(tenant, use)
      use.fresh++
      use.taken++
      fresh++
      taken++
      const place = { takenMs: nowMs, isFresh: true, isTaken: true, tenant }
      oldestFirst.push(place)
      return place
    },
    release(place) {
      endFreshness(place)
      place.isTaken = false
      taken--
      const use = uses.get(place.tenant)
      if (!use) return
      use.taken--
      if (use.taken === 0) uses.delete(place.tenant)
    },
    countHeld: () => taken,
  }
}
