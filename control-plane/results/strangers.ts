/** Ids that results carried and no monitor of the partition has; a probe can send any number of them. */
export type Strangers = {
  /** until when an id is not asked for again, by the monotonic clock; the oldest first */
  until: Map<string, number>
  /** how many more ids the database may be asked for, and when that was computed */
  budget: { left: number; atMs: number }
}

const MOST = 2_000
const KEPT_MS = 60_000
/** Monitors that were made or changed are found without being asked for, within two seconds. */
const MOST_ASKED_AT_ONCE = 1_000
const ASKED_EACH_SECOND = 100

export const newStrangers = (nowMs: number): Strangers => ({
  until: new Map(),
  budget: { left: MOST_ASKED_AT_ONCE, atMs: nowMs },
})

export function noteStranger({ until }: Strangers, id: string, nowMs: number): void {
  until.delete(id)
  until.set(id, nowMs + KEPT_MS)
  for (const oldest of until.keys()) {
    if (until.size <= MOST) return
    until.delete(oldest)
  }
}

/** Whether the database may be asked for this id now; a yes is taken off the budget. */
export function mayAskFor({ until, budget }: Strangers, id: string, nowMs: number): boolean {
  if ((until.get(id) ?? Number.NEGATIVE_INFINITY) > nowMs) return false
  const earned = ((nowMs - budget.atMs) / 1_000) * ASKED_EACH_SECOND
  budget.left = Math.min(MOST_ASKED_AT_ONCE, budget.left + earned)
  budget.atMs = nowMs
  if (budget.left < 1) return false
  budget.left--
  return true
}
