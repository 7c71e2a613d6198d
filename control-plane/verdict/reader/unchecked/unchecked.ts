import { computeVoteLifetimeMs } from '../../core/rules/votes.ts'
import type { MonitorState } from '../../core/types.ts'
import { findLastCountedMs, markUnchecked } from '../../core/unknown-status/unchecked.ts'
import type { UncheckedMonitor } from '../../core/unknown-status/unchecked-actions.ts'
import type { BatchEffects } from '../counting/batch-effects.ts'
import type { TrackedMonitor, TrackedMonitors } from '../counting/tracked-monitors.ts'

/** What a reader knows of its own view. Times are monotonic, in ms. */
export type ReaderCoverage = {
  /** since when it has seen everything that was published, without a break; null: it does not now */
  completeSinceMs: number | null
  /** its last round */
  lastRoundMs: number
  scannedMs: number
  /** when monitors were read from the database again, because they may have been changed */
  reloadedMs: Map<string, number>
  /** the last monitor of a look that found more than it may: the next look continues after it, so that each has its turn */
  lastScannedId: string | null
}

export const createReaderCoverage = (): ReaderCoverage => ({
  completeSinceMs: null,
  lastRoundMs: Number.NEGATIVE_INFINITY,
  scannedMs: Number.NEGATIVE_INFINITY,
  reloadedMs: new Map(),
  lastScannedId: null,
})

/** Between two rounds of a reader that works; after a longer time it does not know what it missed. */
const MAX_ROUND_GAP_MS = 15_000

/** To be called each round. `isUpToDate`: the server answers, and all that was published lately has been read. */
export function recordRound(sight: ReaderCoverage, isUpToDate: boolean, nowMs: number): void {
  if (!isUpToDate || nowMs - sight.lastRoundMs > MAX_ROUND_GAP_MS) sight.completeSinceMs = null
  sight.lastRoundMs = nowMs
  if (isUpToDate) sight.completeSinceMs ??= nowMs
}

/** `monotonicMs` and `logMs`: now. `explainedSinceMs`: of the regions (region-sight.ts). */
export type UncheckedScan = {
  sight: ReaderCoverage
  explainedSinceMs: ReadonlyMap<string, number>
  monotonicMs: number
  logMs: number
}

/**
 * The monitors of which no check has counted for the lifetime of a vote (three intervals and the timeout), although it would
 * have been seen here all the time; and those whose owner was not notified of that yet. `limit` at most. Each with its
 * state as it is from then on.
 */
export function findUncheckedMonitors(memory: TrackedMonitors, look: UncheckedScan, limit: number): UncheckedMonitor[] {
  const { sight, monotonicMs } = look
  const [first, behind]: [UncheckedMonitor[], UncheckedMonitor[]] = [[], []]
  let found = sight.lastScannedId !== null && memory.has(sight.lastScannedId) ? first : behind
  for (const [monitorId, watch] of memory) {
    const one = found.length < limit ? toUncheckedMonitor(monitorId, watch, look) : null
    if (one) found.push(one)
    if (behind.length >= limit) break
    if (monitorId === sight.lastScannedId) found = behind
  }
  const all = [...behind, ...first].slice(0, limit)
  sight.lastScannedId = all.length === limit ? all.at(-1)!.monitorId : null
  for (const [id, atMs] of sight.reloadedMs) if (monotonicMs - atMs > MAX_VOTE_LIFETIME_MS) sight.reloadedMs.delete(id)
  return all
}

function toUncheckedMonitor(monitorId: string, watch: TrackedMonitor, look: UncheckedScan): UncheckedMonitor | null {
  const { policy, state } = watch
  if (policy === null || state.status === null) return null
  if (state.unchecked ? state.unchecked.isTold : !isSilent(watch, monitorId, look)) return null
  const { configVersion } = policy
  const sinceMs = findLastCountedMs(state) ?? look.logMs - computeVoteLifetimeMs(policy)
  return { monitorId, configVersion, state: state.unchecked ? state : markUnchecked(state, sinceMs) }
}

/** The region states that are sent to probes for monitors that lost their status: the next failure is re-checked. */
export const toRegionStates = (states: readonly MonitorState[]): BatchEffects['regionStates'] =>
  states.flatMap(({ monitorId, cells }) => cells.map(({ region, state }) => ({ monitorId, region, state })))

/** Of a monitor that is checked every hour. */
const MAX_VOTE_LIFETIME_MS = 4 * 3_600_000

function isSilent({ policy, state }: TrackedMonitor, monitorId: string, look: UncheckedScan): boolean {
  const { sight, explainedSinceMs, monotonicMs, logMs } = look
  const lifetimeMs = computeVoteLifetimeMs(policy!)
  const isLongAgo = (sinceMs: number | null | undefined) => sinceMs != null && monotonicMs - sinceMs >= lifetimeMs
  return (
    logMs - (findLastCountedMs(state) ?? Number.NEGATIVE_INFINITY) >= lifetimeMs &&
    isLongAgo(sight.completeSinceMs) &&
    isLongAgo(sight.reloadedMs.get(monitorId) ?? Number.NEGATIVE_INFINITY) &&
    policy!.regions.every(region => isLongAgo(explainedSinceMs.get(region)))
  )
}
