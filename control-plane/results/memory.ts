import type { NewDisagreement } from '../fleet/odd-probes.ts'
import { afterClockStep, notAhead } from '../verdict/clock-step.ts'
import { decide } from '../verdict/decide.ts'
import { RECALL_TOLERANCE, type Tolerance } from '../verdict/fences.ts'
import type { Change } from '../verdict/judge.ts'
import { oddProbe } from '../verdict/odd-probe.ts'
import { newMonitorState, restore } from '../verdict/state.ts'
import type { Ask, Counted, Decision, MonitorState, Policy, RegionState } from '../verdict/types.ts'
import type { SeenCertificate } from './certificates.ts'
import { policyOf, type WatchedMonitor } from './policy.ts'

/** A monitor in the memory of its partition's owner. */
export type Watch = {
  /** null: paused; its results are history */
  policy: Policy | null
  state: MonitorState
  /** the newest config version that the database has been asked for because a result carried it */
  lookedForVersion: number
}

/** All of a partition's monitors by id. What is not in here is deleted or unknown; its results are history. */
export type Memory = Map<string, Watch>

/** What a run of results led to and is not stored yet. */
export type Harvest = {
  changes: Map<string, Change>
  asks: { monitorId: string; ask: Ask }[]
  /** what probes have to hear */
  regionStates: { monitorId: string; region: string; state: RegionState }[]
  disagreements: NewDisagreement[]
  /** certificates not met before, by monitor and region */
  certificates: Map<string, SeenCertificate>
  /** where the results that are counted now are counted, by kind */
  kinds: Kinds
  /** the same by region */
  regions: Map<string, Kinds>
}

export type Kinds = Record<Decision['kind'], number>

const newKinds = (): Kinds => ({ counted: 0, aside: 0, history: 0, refused_future: 0 })

export function newHarvest(): Harvest {
  return {
    changes: new Map(),
    asks: [],
    regionStates: [],
    disagreements: [],
    certificates: new Map(),
    kinds: newKinds(),
    regions: new Map(),
  }
}

/** The next results are of this region: all of a message are of one, so this costs nothing a result. */
export function countRegion(harvest: Harvest, region: string): void {
  harvest.kinds = harvest.regions.get(region) ?? newKinds()
  harvest.regions.set(region, harvest.kinds)
}

/** Whether the database has to be asked before this result can be counted: an unknown monitor or a newer version. */
export function needsLook(memory: Memory, result: { monitorId: string; configVersion: number }): boolean {
  const watch = memory.get(result.monitorId)
  if (!watch) return true
  const knownVersion = watch.policy?.configVersion ?? 0
  return result.configVersion > knownVersion && result.configVersion > watch.lookedForVersion
}

/**
 * Takes up what the database says of a monitor, one that is deleted leaves; `stored` null: there is none in this partition. What is in
 * memory is newer than the stored state and stays, unless it was discarded (`isDiscarded`). A stored state that is
 * gone means that the monitor was paused meanwhile: it starts anew (decisions 4.8).
 */
export function takeUp(
  memory: Memory,
  monitorId: string,
  stored: (WatchedMonitor & { state: MonitorState | null }) | null,
  options: { lookedForVersion: number; isDiscarded: boolean; nowMs: number | null },
): void {
  const { lookedForVersion, isDiscarded, nowMs } = options
  if (!stored || stored.isDeleted) {
    memory.delete(monitorId)
    return
  }
  if (stored.isPaused) {
    memory.set(monitorId, { policy: null, state: newMonitorState(monitorId, 0), lookedForVersion })
    return
  }
  const known = memory.get(monitorId)
  const policy = policyOf(stored)
  memory.set(monitorId, { policy, state: stateToUse(), lookedForVersion })

  function stateToUse(): MonitorState {
    if (!stored?.state) return newMonitorState(monitorId, policy.configVersion)
    if (known?.policy && !isDiscarded) return known.state
    // the id that is the key, not another copy of it
    const state = { ...stored.state, monitorId }
    return nowMs === null ? state : restore(state, nowMs)
  }
}

/** Reading goes on at `nowMs`: stored votes count as just seen (decisions 4.4). */
export function restoreAll(memory: Memory, nowMs: number): void {
  for (const watch of memory.values()) watch.state = restore(watch.state, nowMs)
}

/** The first message that is counted was taken at `nowMs`: nothing that is stored can be later. */
export function beginAt(memory: Memory, nowMs: number): void {
  for (const watch of memory.values()) watch.state = restore(notAhead(watch.state, nowMs), nowMs)
}

/** JetStream's clock was set by `stepMs`: what is remembered stays as long ago as it was. */
export function stepAll(memory: Memory, stepMs: number): void {
  for (const watch of memory.values()) watch.state = afterClockStep(watch.state, stepMs)
}

/** Counts one result, and notes in the harvest what has to be stored or told. */
export function countResult(
  memory: Memory,
  harvest: Harvest,
  monitorId: string,
  result: Counted,
  takenAtMs: number,
  tolerance?: Tolerance,
): void {
  const watch = memory.get(monitorId)
  if (!watch?.policy) {
    harvest.kinds.history++
    return
  }
  const decision = decide(watch.state, result, watch.policy, takenAtMs, tolerance)
  harvest.kinds[decision.kind]++
  watch.state = decision.state
  if (decision.mustStore) noteChange(harvest, monitorId, watch, decision)
  if (decision.ask) harvest.asks.push({ monitorId, ask: decision.ask })
  if (decision.disagreement) noteDisagreement(harvest, watch.policy, decision, result, takenAtMs)
  if (decision.regionState) harvest.regionStates.push({ monitorId, ...decision.regionState })
}

function noteDisagreement(
  harvest: Harvest,
  policy: Policy,
  { state, disagreement }: Decision,
  { scheduledAtMs }: Counted,
  atMs: number,
): void {
  const oddProbeId = oddProbe(state, disagreement!, policy, atMs)
  harvest.disagreements.push({ monitorId: state.monitorId, ...disagreement!, oddProbeId, scheduledAtMs, atMs })
}

/**
 * A result that was counted before the restart, read again: it moves the fences of steady regions, which are not
 * stored, so that a duplicate of it does not count twice. What was stored then is in the state already.
 */
export function recallResult(memory: Memory, monitorId: string, result: Counted, takenAtMs: number): void {
  const watch = memory.get(monitorId)
  if (!watch?.policy) return
  const decision = decide(watch.state, result, watch.policy, takenAtMs, RECALL_TOLERANCE)
  if (!decision.mustStore) watch.state = decision.state
}

function noteChange(harvest: Harvest, monitorId: string, watch: Watch, decision: Decision): void {
  const transitions = harvest.changes.get(monitorId)?.transitions ?? []
  if (decision.transition) transitions.push(decision.transition)
  harvest.changes.set(monitorId, {
    monitorId,
    configVersion: watch.policy!.configVersion,
    state: watch.state,
    transitions,
  })
}

/** How many monitors are held at their status because too few regions vote (decisions 4.4). */
export function countHeld(memory: Memory): number {
  let held = 0
  for (const { state, policy } of memory.values()) if (policy && state.quorumLostSinceMs !== null) held++
  return held
}
