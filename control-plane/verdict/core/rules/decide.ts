import { Outcome, Trigger } from '../../../../proto/gen/probe/v1/result.ts'
import { addWitnessRequest, applyDoubt, confirmHeldVotes } from '../confirmation/doubt.ts'
import {
  buildCheckRequest,
  findRequestReason,
  isContradicted,
  isOpinionOutdated,
  isOpinionWanted,
  mayRequestChecks,
  renewSecondOpinion,
  renewSecondOpinions,
  requestSecondOpinion,
  toSecondOpinion,
} from '../confirmation/second-opinion.ts'
import { hasStaleRegionState } from '../confirmation/stale-probe.ts'
import { applyWitnessResult } from '../confirmation/witness.ts'
import type {
  Decision,
  ImmediateCheckRequest,
  MonitorState,
  Policy,
  RegionTally,
  StoreTiming,
  VerdictResult,
} from '../types.ts'
import { resetAfterAbsence } from './absences.ts'
import { createNeutralDecision } from './no-verdict.ts'
import {
  type ClockTolerance,
  checkConfigVersion,
  checkResultOrder,
  DEFAULT_TOLERANCE,
  isOlderGeneration,
  raiseGeneration,
} from './result-order.ts'
import { adoptConfig, replaceTally, withTally } from './state.ts'
import { decideStatus } from './status.ts'
import { advanceStreaks, createRegionTally, differsForVerdict, isCounting, skipResult } from './streaks.ts'
import { changeStatus } from './transition.ts'

/**
 * Returns what one result changes. `nowMs` is the JetStream time of the message, the only clock. The arguments are not
 * changed. Applying a result a second time changes nothing.
 */
export function decide(
  state: MonitorState,
  result: VerdictResult,
  policy: Policy,
  nowMs: number,
  tolerance: ClockTolerance = DEFAULT_TOLERANCE,
): Decision {
  if (result.scheduledAtMs > nowMs + tolerance.futureMs)
    return createNeutralDecision('refused_future', null, state, 'no')
  if (result.trigger === Trigger.ASIDE) return createNeutralDecision('history', 'outside_chain', state, 'no')
  if (result.trigger === Trigger.WITNESS) return applyWitnessResult(state, result, policy, nowMs)
  const refused = checkConfigVersion(state, result, policy)
  if (refused !== null) return createNeutralDecision('history', refused, state, 'no')
  const base = adoptConfig(state, policy, nowMs)
  const adopting: StoreTiming = base === state ? 'no' : 'at_once'
  const known = findTally(base.cells, result.region)
  const { absences } = policy
  const found = known && absences ? resetAfterAbsence(known, absences, base.restoredAtMs, nowMs) : known
  const cell = found ?? createRegionTally(result)
  if (result.trigger === Trigger.OTHER_PROBE) return decideSecondOpinion(base, cell, result, nowMs, adopting)
  const disorder = checkResultOrder(cell.fence, result, nowMs + tolerance.highWaterMarkMs)
  if (disorder !== null)
    return createNeutralDecision('history', disorder, withRaisedGeneration(base, cell, result), adopting)
  if (!isCounting(result.outcome))
    return createNeutralDecision('counted', null, withTally(base, skipResult(cell, result)), adopting)
  if (isContradicted(cell, result, policy, nowMs)) return decideDisagreement(base, cell, result, policy, nowMs)
  return count(base, cell, known ?? cell, result, policy, nowMs, adopting)
}

/**
 * Counts a result that is in order: streak, votes, status. This is the hot path; a steady region costs few objects.
 * `known` is the region's cell in `base`; `before` differs from it only after an absence.
 */
function count(
  base: MonitorState,
  before: RegionTally,
  known: RegionTally,
  result: VerdictResult,
  policy: Policy,
  nowMs: number,
  adopting: StoreTiming,
): Decision {
  const advanced = advanceStreaks(before, result, policy.retryCount, nowMs)
  const doubted = before.doubt || result.isDoubted ? applyDoubt(base, before, advanced, result, policy, nowMs) : null
  const after = doubted?.cell ?? advanced
  const cells = confirmHeldVotes(replaceTally(base.cells, after), after)
  const reason = findRequestReason(base, before, result)
  const isAsking = reason !== null && mayRequestChecks(base, policy, nowMs)
  const voted: MonitorState = {
    monitorId: base.monitorId,
    configVersion: base.configVersion,
    status: base.status,
    statusSinceMs: base.statusSinceMs,
    outageSinceMs: base.outageSinceMs,
    noMajoritySinceMs: base.noMajoritySinceMs,
    quorumLostSinceMs: base.quorumLostSinceMs,
    askedAtMs: isAsking ? nowMs : base.askedAtMs,
    unchecked: base.unchecked ?? null,
    restoredAtMs: base.restoredAtMs,
    cells: isAsking ? renewSecondOpinions(cells, nowMs) : cells,
  }
  const decided = decideStatus(base, voted, result.outcome === Outcome.DOWN, policy, nowMs)
  const isTimed =
    decided.quorumLostSinceMs !== base.quorumLostSinceMs || decided.noMajoritySinceMs !== base.noMajoritySinceMs
  const isAsBefore = decided.status === base.status && (!base.unchecked || decided.quorum === null)
  const changed = isAsBefore ? null : changeStatus(voted, decided, result, policy, nowMs)
  const { quorumLostSinceMs, noMajoritySinceMs } = decided
  // a probe that takes over receives the stored state: with `failing` it makes no re-checks, with `ok` too many
  const isMoved = known.state !== after.state && !(after.state === 'failing' && base.status === 'up')
  const isDecided = adopting !== 'no' || isTimed || changed !== null || isMoved
  const differs = isAsking || known.doubt !== after.doubt || differsForVerdict(known, after, policy.retryCount)
  const asked = isAsking ? buildCheckRequest(reason, result, policy, voted.cells) : null
  // a probe may have the old state of an unchecked monitor, and then does not re-check its failure
  const isKnownToProbe = known.state === after.state && !base.unchecked && !hasStaleRegionState(before, result, policy)
  // a state that was never stored cannot be rebuilt after a restart
  const store = isDecided || (differs && (base.status === null || base.unchecked)) ? 'at_once' : differs ? 'soon' : 'no'
  return {
    kind: 'counted',
    reason: null,
    state: changed?.state ?? (isTimed ? { ...voted, quorumLostSinceMs, noMajoritySinceMs } : voted),
    store,
    transition: changed?.transition ?? null,
    ask: doubted?.asksWitness ? addWitnessRequest(asked, policy) : asked,
    regionState: isKnownToProbe ? null : { region: result.region, state: after.state },
    disagreement: null,
  }
}

/** The deciding attempt is contradicted by another probe of the region, so it counts as unknown. */
function decideDisagreement(
  base: MonitorState,
  cell: RegionTally,
  result: VerdictResult,
  policy: Policy,
  nowMs: number,
): Decision {
  const { region, probeId } = result
  const disagreement = { region, probeId, otherProbeId: cell.secondOpinion!.probeId }
  const skipped = skipResult(cell, result)
  // ask a witness now, because the other probe may stop contradicting
  const doubted = result.isDoubted ? applyDoubt(base, cell, skipped, result, policy, nowMs) : null
  const after = doubted?.cell ?? skipped
  const addWitness = (asked: ImmediateCheckRequest | null) =>
    doubted?.asksWitness ? addWitnessRequest(asked, policy) : asked
  const state = withTally(base, after)
  const regionState = { region, state: after.state }
  const unasked = {
    ...createNeutralDecision('counted', null, state, 'at_once'),
    disagreement,
    regionState,
    ask: addWitness(null),
  }
  if (mayRequestChecks(base, policy, nowMs)) {
    const asked = { ...state, askedAtMs: nowMs, cells: renewSecondOpinions(state.cells, nowMs) }
    return { ...unasked, state: asked, ask: addWitness(buildCheckRequest('disagreement', result, policy, state.cells)) }
  }
  if (!isOpinionOutdated(cell.secondOpinion!, result)) return unasked
  return {
    ...unasked,
    state: withTally(base, renewSecondOpinion(after, nowMs)),
    ask: addWitness(requestSecondOpinion(result)),
  }
}

/** Handles a check by a probe that does not run the schedule of the region. */
function decideSecondOpinion(
  base: MonitorState,
  cell: RegionTally,
  result: VerdictResult,
  nowMs: number,
  adopting: StoreTiming,
): Decision {
  if (isOlderGeneration(result, cell.fence)) return createNeutralDecision('history', 'older_epoch', base, adopting)
  if (!isOpinionWanted(cell, result)) return createNeutralDecision('out_of_band', null, base, adopting)
  const updated = withTally(base, { ...cell, secondOpinion: toSecondOpinion(result, nowMs) })
  return createNeutralDecision('out_of_band', null, updated, adopting === 'no' ? 'soon' : adopting)
}

/** Only an existing cell can be raised; a first result is always in order. */
function withRaisedGeneration(base: MonitorState, cell: RegionTally, result: VerdictResult): MonitorState {
  const raised = raiseGeneration(cell, result)
  return raised === cell ? base : withTally(base, raised)
}

function findTally(cells: readonly RegionTally[], region: string): RegionTally | undefined {
  for (const cell of cells) if (cell.region === region) return cell
  return undefined
}
