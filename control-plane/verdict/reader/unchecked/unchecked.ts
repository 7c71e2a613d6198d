import { computeVoteLifetimeMs } from '../../core/rules/votes.ts'
import type { MonitorState } from '../../core/types.ts'
import { findLastCountedMs, markUnchecked } from '../../core/unknown-status/unchecked.ts'
import type { UncheckedMonitor } from '../../core/unknown-status/unchecked-actions.ts'
import type { BatchEffects } from '../counting/batch-effects.ts'
import type { TrackedMonitor, TrackedMonitors } from '../counting/tracked-monitors.ts'
import { findExplainedSinceMs, type RegionCoverage } from './region-coverage.ts'

/** Whether a reader has seen all messages. Times are monotonic, in ms. */
export type ReaderCoverage = {
  /** since when it has seen everything that was published, without a gap; null: not now */
  completeSinceMs: number | null
  /** its last round */
  lastRoundMs: number
  scannedMs: number
  /** when monitors were last read from the database again */
  reloadedMs: Map<string, number>
  /** the last monitor of a scan that reached its limit; the next scan continues after it */
  lastScannedId: string | null
}

export const createReaderCoverage = (): ReaderCoverage => ({
  completeSinceMs: null,
  lastRoundMs: Number.NEGATIVE_INFINITY,
  scannedMs: Number.NEGATIVE_INFINITY,
  reloadedMs: new Map(),
  lastScannedId: null,
})

/** The longest time between two rounds of a working reader. After a longer one it may have missed something. */
const MAX_ROUND_GAP_MS = 15_000

/** Whether nothing in the stream followed the messages that were read last. A read returns fewer than its limit also with a backlog. */
export const hasReadAll = (messages: readonly { pending: number }[]): boolean =>
  messages.length === 0 || messages.at(-1)!.pending === 0

/** To be called each round. `isUpToDate`: the server answers, and the newest results have been read. */
export function recordRound(coverage: ReaderCoverage, isUpToDate: boolean, nowMs: number): void {
  if (!isUpToDate || nowMs - coverage.lastRoundMs > MAX_ROUND_GAP_MS) coverage.completeSinceMs = null
  coverage.lastRoundMs = nowMs
  if (isUpToDate) coverage.completeSinceMs ??= nowMs
}

/** A step of work that takes longer may be waiting for PostgreSQL, so what it decides is not stored. */
const MAX_WORK_MS = 2_000

/**
 * For how long the reader has seen everything that was published and stored what it decided; null: not now. Something may be
 * unseen or unstored after a long gap between rounds, and while the reader has worked for long (`workingSinceMs`).
 */
export function computeCompleteMs(
  { completeSinceMs, lastRoundMs }: ReaderCoverage,
  workingSinceMs: number | null,
  nowMs: number,
): number | null {
  const isLate = nowMs - lastRoundMs > MAX_ROUND_GAP_MS
  const isStuck = workingSinceMs !== null && nowMs - workingSinceMs > MAX_WORK_MS
  return completeSinceMs === null || isLate || isStuck ? null : nowMs - completeSinceMs
}

/** `monotonicMs` and `logMs`: now. */
type UncheckedScan = {
  coverage: ReaderCoverage
  regionCoverage: RegionCoverage
  monotonicMs: number
  logMs: number
}

/**
 * The monitors for which no check has counted for the lifetime of a vote (three intervals + timeout), although this
 * reader would have seen it; and those whose owners were not notified yet. At most `limit`, each with its new state.
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
  for (const [id, atMs] of coverage.reloadedMs)
    if (monotonicMs - atMs > MAX_VOTE_LIFETIME_MS) coverage.reloadedMs.delete(id)
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

/** The vote lifetime of a monitor that is checked every hour. */
const MAX_VOTE_LIFETIME_MS = 4 * 3_600_000

function isSilent({ policy, state }: TrackedMonitor, monitorId: string, scan: UncheckedScan): boolean {
  const { coverage, regionCoverage, monotonicMs, logMs } = scan
  const { intervalMs, regions } = policy!
  const lifetimeMs = computeVoteLifetimeMs(policy!)
  const hasLasted = (sinceMs: number | null) => sinceMs !== null && monotonicMs - sinceMs >= lifetimeMs
  return (
    logMs - (findLastCountedMs(state) ?? Number.NEGATIVE_INFINITY) >= lifetimeMs &&
    hasLasted(coverage.completeSinceMs) &&
    hasLasted(coverage.reloadedMs.get(monitorId) ?? Number.NEGATIVE_INFINITY) &&
    regions.every(region => hasLasted(findExplainedSinceMs(regionCoverage, region, intervalMs)))
  )
}
