import { lastCountedMs, uncheckedState } from '../verdict/unchecked.ts'
import type { Unchecked } from '../verdict/unchecked-actions.ts'
import { voteLifetimeMs } from '../verdict/votes.ts'
import type { Memory, Watch } from './memory.ts'

/** What a reader knows of its own view. Times are monotonic, in ms. */
export type Sight = {
  /** since when it has seen everything that was published, without a break; null: it does not now */
  soundSinceMs: number | null
  /** its last round */
  soundMs: number
  lookedMs: number
  /** when monitors were read from the database again, because they may have been changed */
  touchedMs: Map<string, number>
  /** found in the last look and not stored: in the next one others have their turn */
  passedOver: Set<string>
}

export const newSight = (): Sight => ({
  soundSinceMs: null,
  soundMs: Number.NEGATIVE_INFINITY,
  lookedMs: Number.NEGATIVE_INFINITY,
  touchedMs: new Map(),
  passedOver: new Set(),
})

/** Between two rounds of a reader that works; after a longer time it does not know what it missed. */
const ROUND_WITHIN_MS = 15_000

/** To be called each round. `isUpToDate`: the server answers, and all that was published lately has been read. */
export function noteRound(sight: Sight, isUpToDate: boolean, nowMs: number): void {
  if (!isUpToDate || nowMs - sight.soundMs > ROUND_WITHIN_MS) sight.soundSinceMs = null
  sight.soundMs = nowMs
  if (isUpToDate) sight.soundSinceMs ??= nowMs
}

/** `monotonicMs` and `logMs`: now. `explainedSinceMs`: of the regions (region-sight.ts). */
export type Look = {
  sight: Sight
  explainedSinceMs: ReadonlyMap<string, number>
  monotonicMs: number
  logMs: number
}

/**
 * The monitors of which no check has counted for as long as a vote lives, three intervals and the timeout, although it would
 * have been seen here all the time; and those whose owner was not notified of that yet. `limit` at most. Each with its
 * state as it is from then on.
 */
export function findUnchecked(memory: Memory, look: Look, limit: number): Unchecked[] {
  const found: Unchecked[] = []
  const { touchedMs, passedOver } = look.sight
  for (const [monitorId, watch] of memory) {
    const { policy, state } = watch
    if (policy === null || state.status === null || passedOver.has(monitorId)) continue
    if (state.unchecked ? state.unchecked.isTold : !isSilent(watch, monitorId, look)) continue
    const { configVersion } = policy
    const sinceMs = lastCountedMs(state) ?? look.logMs - voteLifetimeMs(policy)
    found.push({ monitorId, configVersion, state: state.unchecked ? state : uncheckedState(state, sinceMs) })
    if (found.length >= limit) break
  }
  for (const [id, atMs] of touchedMs) if (look.monotonicMs - atMs > LONGEST_LIFETIME_MS) touchedMs.delete(id)
  return found
}

/** Of a monitor that is checked every hour. */
const LONGEST_LIFETIME_MS = 4 * 3_600_000

function isSilent({ policy, state }: Watch, monitorId: string, look: Look): boolean {
  const { sight, explainedSinceMs, monotonicMs, logMs } = look
  const lifetimeMs = voteLifetimeMs(policy!)
  const isLongAgo = (sinceMs: number | null | undefined) => sinceMs != null && monotonicMs - sinceMs >= lifetimeMs
  return (
    logMs - (lastCountedMs(state) ?? Number.NEGATIVE_INFINITY) >= lifetimeMs &&
    isLongAgo(sight.soundSinceMs) &&
    isLongAgo(sight.touchedMs.get(monitorId) ?? Number.NEGATIVE_INFINITY) &&
    policy!.regions.every(region => isLongAgo(explainedSinceMs.get(region)))
  )
}
