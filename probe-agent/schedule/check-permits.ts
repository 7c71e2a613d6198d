/** After this time a check only waits for its target and costs almost nothing. */
const FRESH_MS = 2000
/** The multiple of `limit` that may be in flight in total. */
const WAITING_FACTOR = 10
/**
 * A tenant may hold at most this multiple of the free permits. One tenant alone stops at 80 % of all permits, two
 * together at 89 %, so there is always a permit for the next tenant.
 */
const SHARE_OF_FREE = 4

export type CheckPermit = { takenMs: number; isFresh: boolean; isTaken: boolean; tenant: number }

/** Why a permit is refused: all are in use, or this tenant has used its share. */
type PermitRefusal = 'full' | 'share'

/**
 * Limits concurrent checks (docs/design/probes.md#permits). A check counts against `limit` for its first 2 s, and
 * afterwards only against ten times the limit, so targets that do not answer do not delay the others. Times by the
 * monotonic clock.
 */
export type CheckPermits = {
  /** `isShared`: other tenants have monitors on this probe, so the tenant is limited to its share */
  acquire: (nowMs: number, tenant?: number, isShared?: boolean) => CheckPermit | PermitRefusal
  release: (permit: CheckPermit) => void
  countHeld: () => number
}

/** Permits that a tenant holds. */
type TenantUse = { fresh: number; taken: number }

export function createCheckPermits(limit: number): CheckPermits {
  const maxTaken = limit * WAITING_FACTOR
  const uses = new Map<number, TenantUse>()
  let fresh = 0
  let taken = 0
  let oldestFirst: CheckPermit[] = []
  let next = 0

  function age(nowMs: number): void {
    for (; next < oldestFirst.length; next++) {
      const permit = oldestFirst[next]!
      if (permit.isTaken && nowMs - permit.takenMs < FRESH_MS) break
      endFreshness(permit)
    }
    if (next > 1000) {
      oldestFirst = oldestFirst.slice(next)
      next = 0
    }
  }

  function endFreshness(permit: CheckPermit): void {
    if (!permit.isFresh) return
    permit.isFresh = false
    fresh--
    const use = uses.get(permit.tenant)
    if (use) use.fresh--
  }

  const hasItsShare = (use: TenantUse) =>
    use.fresh >= SHARE_OF_FREE * (limit - fresh) || use.taken >= SHARE_OF_FREE * (maxTaken - taken)

  return {
    acquire(nowMs, tenant = 0, isShared = false) {
      age(nowMs)
      if (fresh >= limit || taken >= maxTaken) return 'full'
      const use = uses.get(tenant) ?? { fresh: 0, taken: 0 }
      if (isShared && hasItsShare(use)) return 'share'
      uses.set(tenant, use)
      use.fresh++
      use.taken++
      fresh++
      taken++
      const permit = { takenMs: nowMs, isFresh: true, isTaken: true, tenant }
      oldestFirst.push(permit)
      return permit
    },
    release(permit) {
      endFreshness(permit)
      permit.isTaken = false
      taken--
      const use = uses.get(permit.tenant)
      if (!use) return
      use.taken--
      if (use.taken === 0) uses.delete(permit.tenant)
    },
    countHeld: () => taken,
  }
}
