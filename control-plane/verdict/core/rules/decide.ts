import { Trigger } from '../../../../proto/gen/probe/v1/result.ts'
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
 * What one result changes (decisions 4). `policy` is at least as new as the result; `nowMs` is the JetStream time of the
 * message, the only clock. Nothing handed in is changed. Feeding a result again changes nothing.
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
  if (result.trigger === Trigger.ASIDE) return createNeutralDecision('history', 'beside_a_chain', state, 'no')
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
 * A counting result in order: streak, votes, status. The hot path; a steady region costs few objects. `known`: the region's
 * cell in `base`, which `before` differs from after an absence only.
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
  const heeded = before.doubt || result.isDoubted ? applyDoubt(base, before, advanced, result, policy, nowMs) : null
  const after = heeded?.cell ?? advanced
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
  const weighed = decideStatus(base, voted, policy, nowMs)
  const isTimed =
    weighed.quorumLostSinceMs !== base.quorumLostSinceMs || weighed.noMajoritySinceMs !== base.noMajoritySinceMs
  const isAsBefore = weighed.status === base.status && (!base.unchecked || weighed.quorum === null)
  const changed = isAsBefore ? null : changeStatus(voted, weighed, result, policy, nowMs)
  const { quorumLostSinceMs, noMajoritySinceMs } = weighed
  // a probe that takes over gets the stored state: one that reads `failing` makes no re-checks, one that reads `ok` too many
  const isMoved = known.state !== after.state && !(after.state === 'failing' && base.status === 'up')
  const isDecided = adopting !== 'no' || isTimed || changed !== null || isMoved
  const differs = isAsking || known.doubt !== after.doubt || differsForVerdict(known, after, policy.retryCount)
  const asked = isAsking ? buildCheckRequest(reason, result, policy, voted.cells) : null
  // a probe may take an unchecked monitor for what it was before, and not re-check its failure
  const isHeard = known.state === after.state && !base.unchecked && !hasStaleRegionState(before, result, policy)
  // what was never stored cannot be brought back
  const store = isDecided || (differs && (base.status === null || base.unchecked)) ? 'at_once' : differs ? 'soon' : 'no'
  return {
    kind: 'counted',
    reason: null,
    state: changed?.state ?? (isTimed ? { ...voted, quorumLostSinceMs, noMajoritySinceMs } : voted),
    store,
    transition: changed?.transition ?? null,
    ask: heeded?.asksWitness ? addWitnessRequest(asked, policy) : asked,
    regionState: isHeard ? null : { region: result.region, state: after.state },
    disagreement: null,
  }
}

/** The deciding attempt contradicted by another probe of the region: it is as good as unknown (decisions 4.5). */
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
  // when the other probe ends its contradiction, a witness has to have been asked
  const heeded = result.isDoubted ? applyDoubt(base, cell, skipped, result, policy, nowMs) : null
  const after = heeded?.cell ?? skipped
  const asking = (asked: ImmediateCheckRequest | null) =>
    heeded?.asksWitness ? addWitnessRequest(asked, policy) : asked
  const state = withTally(base, after)
  const regionState = { region, state: after.state }
  const unasked = {
    ...createNeutralDecision('counted', null, state, 'at_once'),
    disagreement,
    regionState,
    ask: asking(null),
  }
  if (mayRequestChecks(base, policy, nowMs)) {
    const asked = { ...state, askedAtMs: nowMs, cells: renewSecondOpinions(state.cells, nowMs) }
    return { ...unasked, state: asked, ask: asking(buildCheckRequest('disagreement', result, policy, state.cells)) }
  }
  if (!isOpinionOutdated(cell.secondOpinion!, result)) return unasked
  return {
    ...unasked,
    state: withTally(base, renewSecondOpinion(after, nowMs)),
    ask: asking(requestSecondOpinion(result)),
  }
}

/** A check by a probe that does not run the region's schedule. */
function decideSecondOpinion(
  base: MonitorState,
  cell: RegionTally,
  result: VerdictResult,
  nowMs: number,
  adopting: StoreTiming,
): Decision {
  if (isOlderGeneration(result, cell.fence)) return createNeutralDecision('history', 'older_epoch', base, adopting)
  if (!isOpinionWanted(cell, result)) return createNeutralDecision('aside', null, base, adopting)
  const heard = withTally(base, { ...cell, secondOpinion: toSecondOpinion(result, nowMs) })
  return createNeutralDecision('aside', null, heard, adopting === 'no' ? 'soon' : adopting)
}

/** Only what is known can be raised: a first result is always in order. */
function withRaisedGeneration(base: MonitorState, cell: RegionTally, result: VerdictResult): MonitorState {
  const raised = raiseGeneration(cell, result)
  return raised === cell ? base : withTally(base, raised)
}

function findTally(cells: readonly RegionTally[], region: string): RegionTally | undefined {
  for (const cell of cells) if (cell.region === region) return cell
  return undefined
}
