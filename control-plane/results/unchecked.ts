import type { MonitorState } from '../verdict/types.ts'
import { lastCountedMs, uncheckedState } from '../verdict/unchecked.ts'
import type { Unchecked } from '../verdict/unchecked-actions.ts'
import { voteLifetimeMs } from '../verdict/votes.ts'
import type { Harvest, Memory, Watch } from './memory.ts'

/** What a reader knows of its own view. Times are monotonic, in ms. */
export type Sight = {
  /** since when it has seen everything that was published, without a break; null: it does not now */
  soundSinceMs: number | null
  /** its last round */
  soundMs: number
  lookedMs: number
  /** when monitors were read from the database again, because they may have been changed */
  touchedMs: Map<string, number>
  /** the last monitor of a look that found more than it may: the next look continues after it, so that each has its turn */
  lookedTo: string | null
}

export const newSight = (): Sight => ({
  soundSinceMs: null,
  soundMs: Number.NEGATIVE_INFINITY,
  lookedMs: Number.NEGATIVE_INFINITY,
  touchedMs: new Map(),
  lookedTo: null,
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
 * The monitors of which no check has counted for the lifetime of a vote (three intervals and the timeout), although it would
 * have been seen here all the time; and those whose owner was not notified of that yet. `limit` at most. Each with its
 * state as it is from then on.
 */
export function findUnchecked(memory: Memory, look: Look, limit: number): Unchecked[] {
  const { sight, monotonicMs } = look
  const [first, behind]: [Unchecked[], Unchecked[]] = [[], []]
  let found = sight.lookedTo !== null && memory.has(sight.lookedTo) ? first : behind
  for (const [monitorId, watch] of memory) {
    const one = found.length < limit ? uncheckedOf(monitorId, watch, look) : null
    if (one) found.push(one)
    if (behind.length >= limit) break
    if (monitorId === sight.lookedTo) found = behind
  }
  const all = [...behind, ...first].slice(0, limit)
  sight.lookedTo = all.length === limit ? all.at(-1)!.monitorId : null
  for (const [id, atMs] of sight.touchedMs) if (monotonicMs - atMs > LONGEST_LIFETIME_MS) sight.touchedMs.delete(id)
  return all
}

function uncheckedOf(monitorId: string, watch: Watch, look: Look): Unchecked | null {
  const { policy, state } = watch
  if (policy === null || state.status === null) return null
  if (state.unchecked ? state.unchecked.isTold : !isSilent(watch, monitorId, look)) return null
  const { configVersion } = policy
  const sinceMs = lastCountedMs(state) ?? look.logMs - voteLifetimeMs(policy)
  return { monitorId, configVersion, state: state.unchecked ? state : uncheckedState(state, sinceMs) }
}

/** The region states that are sent to probes for monitors that lost their status: the next failure is re-checked. */
export const regionStatesOf = (states: readonly MonitorState[]): Harvest['regionStates'] =>
  states.flatMap(({ monitorId, cells }) => cells.map(({ region, state }) => ({ monitorId, region, state })))

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
