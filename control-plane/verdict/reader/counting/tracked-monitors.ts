import { Trigger } from '../../../../shared/checks/result.ts'
import { findOutlierProbe } from '../../core/confirmation/outlier-probe.ts'
import { clampStateTimes, shiftStateTimes } from '../../core/rules/clock-step.ts'
import { decide } from '../../core/rules/decide.ts'
import { type ClockTolerance, REPLAY_TOLERANCE } from '../../core/rules/result-order.ts'
import { createMonitorState, isSteady, mergeVoteTimes, restoreState } from '../../core/rules/state.ts'
import { computeOutvoteLifetimeMs } from '../../core/rules/votes.ts'
import type { Decision, MonitorState, Policy, VerdictResult, VerdictStatus } from '../../core/types.ts'
import { findLastCountedMs } from '../../core/unknown-status/unchecked.ts'
import type { BatchEffects, UnstoredMonitors } from './batch-effects.ts'
import { buildPolicy, type VerdictMonitorRow } from './policy.ts'
import { computeSetback } from './stream-clock.ts'

/** A monitor in the memory of its partition's reader. */
export type TrackedMonitor = {
  /** null: paused; its results are history */
  policy: Policy | null
  state: MonitorState
  /** the newest config version that was looked for in the database because a result had it */
  lookedForVersion: number
}

/** All monitors of a partition by id. Results of other monitors are history. */
export type TrackedMonitors = Map<string, TrackedMonitor>

/** Whether the monitor has to be loaded before this result counts: it is unknown, or the result has a newer version. */
export function needsReload(memory: TrackedMonitors, result: { monitorId: string; configVersion: number }): boolean {
  const tracked = memory.get(result.monitorId)
  if (!tracked) return true
  const knownVersion = tracked.policy?.configVersion ?? 0
  return result.configVersion > knownVersion && result.configVersion > tracked.lookedForVersion
}

/**
 * Updates memory with the stored monitor and removes a deleted one; `stored` is null if the partition has no such
 * monitor. The state in memory is newer than the stored one and stays, unless it was discarded (`isDiscarded`). If the
 * stored state is missing, the monitor was paused in the meantime and begins like a new one.
 */
export function loadMonitor(
  memory: TrackedMonitors,
  monitorId: string,
  stored: (VerdictMonitorRow & { state: MonitorState | null }) | null,
  options: { lookedForVersion: number; isDiscarded: boolean },
): void {
  const { lookedForVersion, isDiscarded } = options
  if (!stored || stored.isDeleted) {
    memory.delete(monitorId)
    return
  }
  if (stored.isPaused) {
    memory.set(monitorId, { policy: null, state: createMonitorState(monitorId, 0), lookedForVersion })
    return
  }
  const known = memory.get(monitorId)
  const policy = buildPolicy(stored)
  memory.set(monitorId, { policy, state: stateToUse(), lookedForVersion })

  function stateToUse(): MonitorState {
    if (!stored?.state) return createMonitorState(monitorId, policy.configVersion)
    if (known?.policy && !isDiscarded) return known.state
    // use the same string as the key, to save memory
    const state = { ...stored.state, monitorId, unchecked: restoreUnchecked(stored.state, stored.status) }
    return known?.policy ? mergeVoteTimes(state, known.state) : state
  }
}

/** Restores `unchecked` if a process of an older version, which does not know it, has stored the state since. */
function restoreUnchecked(state: MonitorState, shown: VerdictStatus): MonitorState['unchecked'] {
  if (state.unchecked || state.status === null || shown !== null) return state.unchecked ?? null
  return { sinceMs: findLastCountedMs(state) ?? 0, isTold: true }
}

/** To be called when reading begins and all results from `knownFromMs` on are known; null: all results are known. */
export function restoreStates(memory: TrackedMonitors, knownFromMs: number | null): void {
  for (const tracked of memory.values()) tracked.state = restoreState(tracked.state, knownFromMs)
}

/**
 * To be called with the first message that counts, taken at `nowMs`; the one before it was taken at `positionAtMs`. If
 * JetStream's clock was set back in between, ages stay the same and no stored time stays in the future. Returns what
 * `shiftAllTimes` returns.
 */
export function startCountingAt(memory: TrackedMonitors, nowMs: number, positionAtMs: number | null): string[] {
  const stepMs = positionAtMs === null ? 0 : computeSetback(positionAtMs, nowMs)
  const toStore = stepMs < 0 ? shiftAllTimes(memory, stepMs) : []
  for (const tracked of memory.values()) tracked.state = clampStateTimes(tracked.state, nowMs)
  return toStore
}

/**
 * Moves all times by `stepMs` after JetStream's clock was set, so that ages stay the same. Returns the monitors whose
 * stored states have to be replaced, because their times would be wrong after a restart.
 */
export function shiftAllTimes(memory: TrackedMonitors, stepMs: number): string[] {
  const toStore: string[] = []
  for (const [id, tracked] of memory) {
    tracked.state = shiftStateTimes(tracked.state, stepMs)
    if (tracked.policy && !isSteady(tracked.state)) toStore.push(id)
  }
  return toStore
}

/** The longest lifetime of a vote in the partition, in ms. */
export function computeMaxVoteLifetimeMs(memory: TrackedMonitors): number {
  let maxMs = 0
  for (const { policy } of memory.values()) if (policy) maxMs = Math.max(maxMs, computeOutvoteLifetimeMs(policy))
  return maxMs
}

/**
 * Counts one result and adds what has to be stored or published to the effects. The first failure of a monitor in
 * `parents` is stored with its result, because other processes read it.
 */
export function countResult(
  memory: TrackedMonitors,
  effects: BatchEffects,
  monitorId: string,
  result: VerdictResult,
  takenAtMs: number,
  tolerance?: ClockTolerance,
  parents?: ReadonlySet<string>,
): void {
  const tracked = memory.get(monitorId)
  if (!tracked?.policy) {
    effects.counts.history++
    return
  }
  const decision = decide(tracked.state, result, tracked.policy, takenAtMs, tolerance)
  effects.counts[decision.kind]++
  const before = tracked.state
  tracked.state = decision.state
  if (decision.store !== 'no') {
    const isSoon =
      decision.store === 'soon' && !(parents?.has(monitorId) && isFailing(before) !== isFailing(tracked.state))
    if (!isSoon) recordChange(effects, monitorId, tracked, decision, before)
    else if (!effects.unstored.has(monitorId)) effects.unstored.set(monitorId, takenAtMs)
  }
  if (decision.ask) effects.asks.push({ monitorId, ask: decision.ask })
  if (decision.disagreement) recordDisagreement(effects, tracked.policy, decision, result, takenAtMs)
  if (decision.regionState) effects.regionStates.push({ monitorId, ...decision.regionState })
}

const isFailing = ({ cells }: MonitorState) => cells.some(cell => cell.failures > 0 || cell.state === 'failing')

function recordDisagreement(
  effects: BatchEffects,
  policy: Policy,
  { state, disagreement }: Decision,
  { scheduledAtMs }: VerdictResult,
  atMs: number,
): void {
  const oddProbeId = findOutlierProbe(state, disagreement!, policy, atMs)
  effects.disagreements.push({ monitorId: state.monitorId, ...disagreement!, oddProbeId, scheduledAtMs, atMs })
}

/**
 * Counts a result again that was counted before the restart. It rebuilds what was not stored; a result that is part of
 * the stored state is out of order. No status changes: if the result would decide now what it did not decide then, its
 * streak counts and the next result decides.
 */
export function replayResult(
  memory: TrackedMonitors,
  unstored: UnstoredMonitors,
  monitorId: string,
  result: VerdictResult,
  takenAtMs: number,
): void {
  const tracked = memory.get(monitorId)
  if (!tracked?.policy) return
  if (isKnownOpinion(tracked.state, result, takenAtMs)) return
  const { store, state } = decide(tracked.state, result, tracked.policy, takenAtMs, REPLAY_TOLERANCE)
  if (store !== 'no' && !unstored.has(monitorId)) unstored.set(monitorId, takenAtMs)
  const { configVersion, askedAtMs, cells } = state
  tracked.state = store === 'at_once' ? { ...tracked.state, configVersion, askedAtMs, cells } : state
}

/**
 * Second opinions do not move the high-water mark. One from before the newest result of its region is in the stored
 * state already.
 */
const isKnownOpinion = ({ cells }: MonitorState, { trigger, region }: VerdictResult, takenAtMs: number) =>
  trigger === Trigger.OTHER_PROBE &&
  cells.some(cell => cell.region === region && cell.votedAtMs !== null && cell.votedAtMs > takenAtMs)

function recordChange(
  effects: BatchEffects,
  monitorId: string,
  { policy, state }: TrackedMonitor,
  { transition }: Decision,
  before: MonitorState,
): void {
  const known = effects.changes.get(monitorId)
  const transitions = [...(known?.transitions ?? []), ...(transition ? [transition] : [])]
  effects.changes.set(monitorId, { monitorId, configVersion: policy!.configVersion, state, transitions })
  if (!known) effects.statesBefore.set(monitorId, before)
}

/**
 * Adds the states that have waited to be stored for `ageMs` or longer at `nowMs` to the effects, at most `limit`, the
 * oldest first. A time in the future is from before JetStream's clock was set back.
 */
export function addOverdueChanges(
  memory: TrackedMonitors,
  effects: BatchEffects,
  unstored: UnstoredMonitors,
  { nowMs, ageMs, limit }: { nowMs: number; ageMs: number; limit: number },
): void {
  let left = limit
  for (const [monitorId, atMs] of unstored) {
    const isYoung = atMs <= nowMs && atMs > nowMs - ageMs
    if (isYoung || left-- === 0) return
    const tracked = memory.get(monitorId)
    if (!tracked?.policy) unstored.delete(monitorId)
    else if (!effects.changes.has(monitorId)) {
      const { policy, state } = tracked
      const { configVersion } = policy
      effects.changes.set(monitorId, { monitorId, configVersion, state, transitions: [] })
      effects.statesBefore.set(monitorId, state)
    }
  }
}

/** Reverts changes that were discarded because the monitor was changed, as if their results had not arrived. */
export function revertChanges(
  memory: TrackedMonitors,
  { statesBefore: before }: BatchEffects,
  monitorIds: readonly string[],
): void {
  for (const id of monitorIds) memory.get(id)!.state = before.get(id)!
}

/** How many monitors keep their status because too few regions vote. */
export function countHeldMonitors(memory: TrackedMonitors): number {
  let held = 0
  for (const { state, policy } of memory.values()) if (policy && state.quorumLostSinceMs !== null) held++
  return held
}
