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

/** A monitor in the memory of its partition's owner. */
export type TrackedMonitor = {
  /** null: paused; its results are history */
  policy: Policy | null
  state: MonitorState
  /** the newest config version that the database has been asked for because a result carried it */
  lookedForVersion: number
}

/** All of a partition's monitors by id. What is not in here is deleted or unknown; its results are history. */
export type TrackedMonitors = Map<string, TrackedMonitor>

/** Whether the database has to be asked before this result can be counted: an unknown monitor or a newer version. */
export function needsReload(memory: TrackedMonitors, result: { monitorId: string; configVersion: number }): boolean {
  const tracked = memory.get(result.monitorId)
  if (!tracked) return true
  const knownVersion = tracked.policy?.configVersion ?? 0
  return result.configVersion > knownVersion && result.configVersion > tracked.lookedForVersion
}

/**
 * Takes up what the database says of a monitor, one that is deleted leaves; `stored` null: there is none in this partition. What is in
 * memory is newer than the stored state and stays, unless it was discarded (`isDiscarded`). A stored state that is
 * gone means that the monitor was paused meanwhile: it starts anew (decisions 4.8).
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
    // the id that is the key, not another copy of it
    const state = { ...stored.state, monitorId, unchecked: restoreUnchecked(stored.state, stored.status) }
    return known?.policy ? mergeVoteTimes(state, known.state) : state
  }
}

/** A process of an older version, which stores other changes of such a monitor, does not know of it. */
function restoreUnchecked(state: MonitorState, shown: VerdictStatus): MonitorState['unchecked'] {
  if (state.unchecked || state.status === null || shown !== null) return state.unchecked ?? null
  return { sinceMs: findLastCountedMs(state) ?? 0, isTold: true }
}

/** Reading begins, and all results from `knownFromMs` on are known; null: all there are. */
export function restoreStates(memory: TrackedMonitors, knownFromMs: number | null): void {
  for (const tracked of memory.values()) tracked.state = restoreState(tracked.state, knownFromMs)
}

/**
 * The first message that is counted was taken at `nowMs`, the one before it at `positionAtMs`. Where JetStream's clock was
 * set back in between everything is as long ago as it was, and nothing that is stored can be later. Answers as `stepAll`.
 */
export function startCountingAt(memory: TrackedMonitors, nowMs: number, positionAtMs: number | null): string[] {
  const stepMs = positionAtMs === null ? 0 : computeSetback(positionAtMs, nowMs)
  const toStore = stepMs < 0 ? shiftAllTimes(memory, stepMs) : []
  for (const tracked of memory.values()) tracked.state = clampStateTimes(tracked.state, nowMs)
  return toStore
}

/**
 * JetStream's clock was set by `stepMs`: what is remembered stays as long ago as it was. Answers the monitors whose stored
 * states, which are by the old clock, would be wrong by that after a restart.
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
  let longestMs = 0
  for (const { policy } of memory.values())
    if (policy) longestMs = Math.max(longestMs, computeOutvoteLifetimeMs(policy))
  return longestMs
}

/**
 * Counts one result, and notes in the effects what has to be stored or published. Other processes look at the failures of
 * `parents`, so that their first one is stored at once.
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
 * A result that was counted before the restart, read again: it moves what is not stored, or not yet. What was stored
 * then is in the state already, so that its result is out of order. Nothing is decided again: should a result decide
 * now what it did not then, its streak counts and the next one decides.
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

/** Opinions of other probes move no fence: one that came before the newest result of its region was heard before that was stored. */
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
 * Adds to the effects what waits for its storing for `ageMs` or longer at `nowMs`, `limit` at most. The longest come first;
 * a time that is ahead was taken before JetStream's clock was set back.
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

/** Changes that were not stored, because the monitor was changed meanwhile: as if their results had not come. */
export function revertChanges(
  memory: TrackedMonitors,
  { statesBefore: before }: BatchEffects,
  monitorIds: readonly string[],
): void {
  for (const id of monitorIds) memory.get(id)!.state = before.get(id)!
}

/** How many monitors are held at their status because too few regions vote (decisions 4.4). */
export function countHeldMonitors(memory: TrackedMonitors): number {
  let held = 0
  for (const { state, policy } of memory.values()) if (policy && state.quorumLostSinceMs !== null) held++
  return held
}
