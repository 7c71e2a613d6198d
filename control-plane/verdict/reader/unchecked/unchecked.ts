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
  /** the last monitor of a scan that found more than it may: the next scan continues after it, so that each has its turn */
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
export function recordRound(coverage: ReaderCoverage, isUpToDate: boolean, nowMs: number): void {
  if (!isUpToDate || nowMs - coverage.lastRoundMs > MAX_ROUND_GAP_MS) coverage.completeSinceMs = null
  coverage.lastRoundMs = nowMs
  if (isUpToDate) coverage.completeSinceMs ??= nowMs
}

/** `monotonicMs` and `logMs`: now. `explainedSinceMs`: of the regions (region-coverage.ts). */
export type UncheckedScan = {
  coverage: ReaderCoverage
  explainedSinceMs: ReadonlyMap<string, number>
  monotonicMs: number
  logMs: number
}

/**
 * The monitors of which no check has counted for the lifetime of a vote (three intervals and the timeout), although it would
 * have been seen here all the time; and those whose owner was not notified of that yet. `limit` at most. Each with its
 * state as it is from then on.
 */
export function findUncheckedMonitors(memory: TrackedMonitors, scan: UncheckedScan, limit: number): UncheckedMonitor[] {
  const { coverage, monotonicMs } = scan
  const [first, behind]: [UncheckedMonitor[], UncheckedMonitor[]] = [[], []]
  let found = coverage.lastScannedId !== null && memory.has(coverage.lastScannedId) ? first : behind
  for (const [monitorId, tracked] of memory) {
    const one = found.length < limit ? toUncheckedMonitor(monitorId, tracked, scan) : null
    if (one) found.push(one)
    if (behind.length >= limit) break
    if (monitorId === coverage.lastScannedId) found = behind
  }
  const all = [...behind, ...first].slice(0, limit)
  coverage.lastScannedId = all.length === limit ? all.at(-1)!.monitorId : null
  for (const [id, atMs] of coverage.reloadedMs) if (monotonicMs - atMs > MAX_VOTE_LIFETIME_MS) coverage.reloadedMs.delete(id)
  return all
}

function toUncheckedMonitor(monitorId: string, tracked: TrackedMonitor, scan: UncheckedScan): UncheckedMonitor | null {
  const { policy, state } = tracked
  if (policy === null || state.status === null) return null
  if (state.unchecked ? state.unchecked.isTold : !isSilent(tracked, monitorId, scan)) return null
  const { configVersion } = policy
  const sinceMs = findLastCountedMs(state) ?? scan.logMs - computeVoteLifetimeMs(policy)
  return { monitorId, configVersion, state: state.unchecked ? state : markUnchecked(state, sinceMs) }
}

/** The region states that are sent to probes for monitors that lost their status: the next failure is re-checked. */
export const toRegionStates = (states: readonly MonitorState[]): BatchEffects['regionStates'] =>
  states.flatMap(({ monitorId, cells }) => cells.map(({ region, state }) => ({ monitorId, region, state })))

/** Of a monitor that is checked every hour. */
const MAX_VOTE_LIFETIME_MS = 4 * 3_600_000

function isSilent({ policy, state }: TrackedMonitor, monitorId: string, scan: UncheckedScan): boolean {
  const { coverage, explainedSinceMs, monotonicMs, logMs } = scan
  const lifetimeMs = computeVoteLifetimeMs(policy!)
  const hasLasted = (sinceMs: number | null | undefined) => sinceMs != null && monotonicMs - sinceMs >= lifetimeMs
  return (
    logMs - (findLastCountedMs(state) ?? Number.NEGATIVE_INFINITY) >= lifetimeMs &&
    hasLasted(coverage.completeSinceMs) &&
    hasLasted(coverage.reloadedMs.get(monitorId) ?? Number.NEGATIVE_INFINITY) &&
    policy!.regions.every(region => hasLasted(explainedSinceMs.get(region)))
  )
}
