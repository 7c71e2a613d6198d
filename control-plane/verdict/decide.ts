import { Trigger } from '../../proto/gen/probe/v1/result.ts'
import { cellOnReturn } from './absences.ts'
import { confirmOthers, heedDoubt, withWitness } from './doubt.ts'
import {
  isOlderGeneration,
  raiseGeneration,
  refuseConfig,
  refuseOrder,
  type Tolerance,
  USUAL_TOLERANCE,
} from './fences.ts'
import { isMistaken } from './mistaken-probe.ts'
import { noVerdict } from './no-verdict.ts'
import {
  ask,
  askForOpinion,
  isContradicted,
  isOpinionWanted,
  isOutdated,
  mayAsk,
  opinionOf,
  reasonToAsk,
  renewOpinion,
  renewOpinions,
} from './partial.ts'
import { adopt, replaceCell, withCell } from './state.ts'
import { weigh } from './status.ts'
import { advance, differsInSubstance, isCounting, newCell, skip } from './streaks.ts'
import { changeStatus } from './transition.ts'
import type { Ask, Cell, Counted, Decision, MonitorState, Policy, Storing } from './types.ts'
import { hearWitness } from './witness.ts'

/**
 * What one result changes (decisions 4). `policy` is at least as new as the result; `nowMs` is the JetStream time of the
 * message, the only clock. Nothing handed in is changed. Feeding a result again changes nothing.
 */
export function decide(
  state: MonitorState,
  result: Counted,
  policy: Policy,
  nowMs: number,
  tolerance: Tolerance = USUAL_TOLERANCE,
): Decision {
  if (result.scheduledAtMs > nowMs + tolerance.futureMs) return noVerdict('refused_future', null, state, 'no')
  if (result.trigger === Trigger.ASIDE) return noVerdict('history', 'beside_a_chain', state, 'no')
  if (result.trigger === Trigger.WITNESS) return hearWitness(state, result, policy, nowMs)
  const refused = refuseConfig(state, result, policy)
  if (refused !== null) return noVerdict('history', refused, state, 'no')
  const base = adopt(state, policy, nowMs)
  const adopting: Storing = base === state ? 'no' : 'at_once'
  const known = findCell(base.cells, result.region)
  const { absences } = policy
  const found = known && absences ? cellOnReturn(known, absences, base.restoredAtMs, nowMs) : known
  const cell = found ?? newCell(result)
  if (result.trigger === Trigger.OTHER_PROBE) return hearAside(base, cell, result, nowMs, adopting)
  const disorder = refuseOrder(cell.fence, result, nowMs + tolerance.fenceMs)
  if (disorder !== null) return noVerdict('history', disorder, withRaisedGeneration(base, cell, result), adopting)
  if (!isCounting(result.outcome)) return noVerdict('counted', null, withCell(base, skip(cell, result)), adopting)
  if (isContradicted(cell, result, policy, nowMs)) return disagree(base, cell, result, policy, nowMs)
  return count(base, cell, known ?? cell, result, policy, nowMs, adopting)
}

/**
 * A counting result in order: streak, votes, status. The hot path; a steady region costs few objects. `known`: the region's
 * cell in `base`, which `before` differs from after an absence only.
 */
function count(
  base: MonitorState,
  before: Cell,
  known: Cell,
  result: Counted,
  policy: Policy,
  nowMs: number,
  adopting: Storing,
): Decision {
  const advanced = advance(before, result, policy.retryCount, nowMs)
  const heeded = before.doubt || result.isDoubted ? heedDoubt(base, before, advanced, result, policy, nowMs) : null
  const after = heeded?.cell ?? advanced
  const cells = confirmOthers(replaceCell(base.cells, after), after)
  const reason = reasonToAsk(base, before, result)
  const isAsking = reason !== null && mayAsk(base, policy, nowMs)
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
    cells: isAsking ? renewOpinions(cells, nowMs) : cells,
  }
  const weighed = weigh(base, voted, policy, nowMs)
  const isTimed =
    weighed.quorumLostSinceMs !== base.quorumLostSinceMs || weighed.noMajoritySinceMs !== base.noMajoritySinceMs
  const isAsBefore = weighed.status === base.status && (!base.unchecked || weighed.quorum === null)
  const changed = isAsBefore ? null : changeStatus(voted, weighed, result, policy, nowMs)
  const { quorumLostSinceMs, noMajoritySinceMs } = weighed
  // a probe that takes over gets the stored state: one that reads `failing` makes no re-checks, one that reads `ok` too many
  const isMoved = known.state !== after.state && !(after.state === 'failing' && base.status === 'up')
  const isDecided = adopting !== 'no' || isTimed || changed !== null || isMoved
  const differs = isAsking || known.doubt !== after.doubt || differsInSubstance(known, after, policy.retryCount)
  const asked = isAsking ? ask(reason, result, policy, voted.cells) : null
  // a probe may take an unchecked monitor for what it was before, and not re-check its failure
  const isHeard = known.state === after.state && !base.unchecked && !isMistaken(before, result, policy)
  // what was never stored cannot be brought back
  const store = isDecided || (differs && (base.status === null || base.unchecked)) ? 'at_once' : differs ? 'soon' : 'no'
  return {
    kind: 'counted',
    reason: null,
    state: changed?.state ?? (isTimed ? { ...voted, quorumLostSinceMs, noMajoritySinceMs } : voted),
    store,
    transition: changed?.transition ?? null,
    ask: heeded?.asksWitness ? withWitness(asked, policy) : asked,
    regionState: isHeard ? null : { region: result.region, state: after.state },
    disagreement: null,
  }
}

/** The deciding attempt contradicted by another probe of the region: it is as good as unknown (decisions 4.5). */
function disagree(base: MonitorState, cell: Cell, result: Counted, policy: Policy, nowMs: number): Decision {
  const { region, probeId } = result
  const disagreement = { region, probeId, otherProbeId: cell.secondOpinion!.probeId }
  const skipped = skip(cell, result)
  // when the other probe ends its contradiction, a witness has to have been asked
  const heeded = result.isDoubted ? heedDoubt(base, cell, skipped, result, policy, nowMs) : null
  const after = heeded?.cell ?? skipped
  const asking = (asked: Ask | null) => (heeded?.asksWitness ? withWitness(asked, policy) : asked)
  const state = withCell(base, after)
  const regionState = { region, state: after.state }
  const unasked = { ...noVerdict('counted', null, state, 'at_once'), disagreement, regionState, ask: asking(null) }
  if (mayAsk(base, policy, nowMs)) {
    const asked = { ...state, askedAtMs: nowMs, cells: renewOpinions(state.cells, nowMs) }
    return { ...unasked, state: asked, ask: asking(ask('disagreement', result, policy, state.cells)) }
  }
  if (!isOutdated(cell.secondOpinion!, result)) return unasked
  return { ...unasked, state: withCell(base, renewOpinion(after, nowMs)), ask: asking(askForOpinion(result)) }
}

/** A check by a probe that does not run the region's schedule. */
function hearAside(base: MonitorState, cell: Cell, result: Counted, nowMs: number, adopting: Storing): Decision {
  if (isOlderGeneration(result, cell.fence)) return noVerdict('history', 'older_epoch', base, adopting)
  if (!isOpinionWanted(cell, result)) return noVerdict('aside', null, base, adopting)
  const heard = withCell(base, { ...cell, secondOpinion: opinionOf(result, nowMs) })
  return noVerdict('aside', null, heard, adopting === 'no' ? 'soon' : adopting)
}

/** Only what is known can be raised: a first result is always in order. */
function withRaisedGeneration(base: MonitorState, cell: Cell, result: Counted): MonitorState {
  const raised = raiseGeneration(cell, result)
  return raised === cell ? base : withCell(base, raised)
}

function findCell(cells: readonly Cell[], region: string): Cell | undefined {
  for (const cell of cells) if (cell.region === region) return cell
  return undefined
}
