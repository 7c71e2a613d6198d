import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { getFailureThreshold, isCounting } from '../rules/streaks.ts'
import { computeVoteEndMs } from '../rules/votes.ts'
import type {
  ImmediateCheckRequest,
  MonitorState,
  Policy,
  RegionTally,
  SecondOpinion,
  VerdictResult,
} from '../types.ts'

/** How long an answer may take beyond the check's own timeout, in ms (decisions 4.5). */
export const ANSWER_GRACE_MS = 10_000

const computeAnswerWaitMs = (policy: Policy) => policy.timeoutMs + ANSWER_GRACE_MS

/**
 * Whether the regions that vote and do not fail have been heard since the first failure of those that do, or have been
 * silent for too long (decisions 4.5). A check that was due before the failing one may have seen the target before it
 * broke, however late its result comes: it answers nothing. A region in the middle of its re-checks has not answered
 * either: it is waited for as long as its attempts keep coming. So a target that dies everywhere goes straight from up
 * to down.
 */
export function haveOthersAnswered(state: MonitorState, policy: Policy, nowMs: number): boolean {
  const voters = state.cells.filter(cell => computeVoteEndMs(cell, state, policy) > nowMs)
  const failing = voters.filter(cell => cell.state === 'failing')
  const sinceMs = Math.min(...failing.map(cell => cell.firstFailure?.atMs ?? nowMs))
  const dueMs = Math.min(...failing.map(cell => cell.firstFailure?.scheduledAtMs ?? 0))
  return voters.every(cell => {
    if (cell.state === 'failing') return true
    const heardAtMs = cell.votedAtMs ?? Number.NEGATIVE_INFINITY
    if (heardAtMs > sinceMs && cell.failures === 0 && beganAfter(cell.last!, dueMs)) return true
    return nowMs >= Math.max(heardAtMs, sinceMs) + computeAnswerWaitMs(policy)
  })
}

/** A re-check begins when the attempt before has ended, so its slot says nothing of when it began. */
const beganAfter = (result: VerdictResult, dueMs: number) => result.attempt > 1 || result.scheduledAtMs > dueMs

/**
 * What to ask others for after a counting result (decisions 4.5): at the first failed attempt while the monitor is not
 * down, at the first better result of a failing region in an outage, and anew after a disagreement. What `mayAsk` put
 * off then is made up for by a later result of the same run.
 */
export function findRequestReason(
  state: MonitorState,
  before: RegionTally,
  result: VerdictResult,
): ImmediateCheckRequest['reason'] | null {
  const isPutOff = (sinceMs: number) => state.askedAtMs === null || state.askedAtMs < sinceMs
  if (result.outcome === Outcome.DOWN) {
    if (state.status === 'down') return null
    return before.failures === 0 || isPutOff(before.firstFailure!.atMs) ? 'first_failure' : null
  }
  if (before.state !== 'failing' || state.outageSinceMs === null) return null
  return before.better === 0 || isPutOff(before.votedAtMs!) ? 'first_success' : null
}

/** Others are asked at most once a monitor and interval (decisions 4.5); of what no probe checks there are none. */
export function mayRequestChecks(state: MonitorState, policy: Policy, nowMs: number): boolean {
  return policy.expires && (state.askedAtMs === null || nowMs - state.askedAtMs >= policy.intervalMs)
}

/** The ask that follows from a result; `cells` are the monitor's. */
export function buildCheckRequest(
  reason: ImmediateCheckRequest['reason'],
  result: VerdictResult,
  policy: Policy,
  cells: readonly RegionTally[],
): ImmediateCheckRequest {
  const { region, probeId } = result
  const renewed = cells.filter(cell => cell.region !== region && isContradicting(cell))
  return {
    reason,
    regions: policy.regions.filter(other => other !== region),
    otherProbes: [
      { region, notProbeId: probeId },
      ...renewed.map(cell => ({ region: cell.region, notProbeId: cell.last!.probeId })),
    ],
  }
}

/**
 * With any ask, opinions that stand against a streak are asked for anew, so that an old one cannot hold up an outage.
 * The first of several unanswered asks counts: a probe that is gone does not go on contradicting.
 */
export function renewSecondOpinions(cells: readonly RegionTally[], nowMs: number): readonly RegionTally[] {
  const isDue = (cell: RegionTally) => isContradicting(cell) && cell.secondOpinion?.renewalAskedAtMs === null
  return cells.some(isDue) ? cells.map(cell => (isDue(cell) ? renewSecondOpinion(cell, nowMs) : cell)) : cells
}

export function renewSecondOpinion(cell: RegionTally, nowMs: number): RegionTally {
  return { ...cell, secondOpinion: { ...cell.secondOpinion!, renewalAskedAtMs: nowMs } }
}

/** The other probe alone is asked again in each slot that it contradicts, however lately others were asked. */
export function isOpinionOutdated(opinion: SecondOpinion, result: VerdictResult): boolean {
  return opinion.renewalAskedAtMs === null && opinion.scheduledAtMs < result.scheduledAtMs
}

export function requestSecondOpinion({ region, probeId }: VerdictResult): ImmediateCheckRequest {
  return { reason: 'disagreement', regions: [], otherProbes: [{ region, notProbeId: probeId }] }
}

const isContradicting = ({ secondOpinion }: RegionTally) =>
  secondOpinion !== null && secondOpinion.outcome !== Outcome.DOWN

/** Whether an opinion on this cell is of use: only while a failing streak grows, and only newer than the last one. */
export function isOpinionWanted(cell: RegionTally, result: VerdictResult): boolean {
  const afterMs = cell.secondOpinion?.scheduledAtMs ?? (cell.firstFailure?.scheduledAtMs ?? 0) - 1
  return isCounting(result.outcome) && cell.state !== 'failing' && cell.failures > 0 && result.scheduledAtMs > afterMs
}

export function toSecondOpinion(result: VerdictResult, nowMs: number): SecondOpinion {
  const { probeId, outcome, scheduledAtMs } = result
  return { probeId, outcome, scheduledAtMs, takenAtMs: nowMs, renewalAskedAtMs: null }
}

/**
 * Whether `result` would make the region failing while another probe of it, asked during the same streak, got through.
 * An opinion that has been asked for anew without an answer in time no longer stands.
 */
export function isContradicted(cell: RegionTally, result: VerdictResult, policy: Policy, nowMs: number): boolean {
  const opinion = cell.secondOpinion
  if (opinion === null || result.outcome !== Outcome.DOWN || opinion.outcome === Outcome.DOWN) return false
  if (opinion.probeId === result.probeId || cell.failures + 1 < getFailureThreshold(policy.retryCount)) return false
  return opinion.renewalAskedAtMs === null || nowMs < opinion.renewalAskedAtMs + computeAnswerWaitMs(policy)
}
