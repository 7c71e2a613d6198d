/** Ids in results that no monitor of the partition has. A probe can send any number of them. */
export type UnknownMonitors = {
  /** until when an id is not looked up again, by the monotonic clock; the oldest first */
  until: Map<string, number>
  /** how many more ids may be looked up, and when that was computed */
  budget: { left: number; atMs: number }
}

const MAX_UNKNOWN_IDS = 2_000
const RETENTION_MS = 60_000
/** New and changed monitors are found by their revision within two seconds, without a look-up. */
const MAX_LOOKUP_BURST = 1_000
const LOOKUPS_PER_SECOND = 100

export const createUnknownMonitors = (nowMs: number): UnknownMonitors => ({
  until: new Map(),
  budget: { left: MAX_LOOKUP_BURST, atMs: nowMs },
})

export function recordUnknownMonitor({ until }: UnknownMonitors, id: string, nowMs: number): void {
  until.delete(id)
  until.set(id, nowMs + RETENTION_MS)
  for (const oldest of until.keys()) {
    if (until.size <= MAX_UNKNOWN_IDS) return
    until.delete(oldest)
  }
}

/** Whether this id may be looked up now. If so, it uses the budget. */
export function mayLookUp({ until, budget }: UnknownMonitors, id: string, nowMs: number): boolean {
  if ((until.get(id) ?? Number.NEGATIVE_INFINITY) > nowMs) return false
  const earned = ((nowMs - budget.atMs) / 1_000) * LOOKUPS_PER_SECOND
  budget.left = Math.min(MAX_LOOKUP_BURST, budget.left + earned)
  budget.atMs = nowMs
  if (budget.left < 1) return false
  budget.left--
  return true
}
