import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { DEFAULT_TOLERANCE } from '../rules/result-order.ts'
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

/** How long an answer may take in addition to the timeout of the check, in ms. */
export const ANSWER_GRACE_MS = 10_000

const computeAnswerWaitMs = (policy: Policy) => policy.timeoutMs + ANSWER_GRACE_MS

/**
 * Whether every voting region that does not fail has answered since the first failure of those that do, or has not
 * answered for too long. A check that was due before the failing one does not count as an answer, because it may have
 * seen the target before it failed. A region that is still re-checking has not answered either. So a target that
 * fails everywhere goes from up to down directly.
 */
export function haveOthersAnswered(state: MonitorState, policy: Policy, nowMs: number): boolean {
  const voters = state.cells.filter(cell => computeVoteEndMs(cell, state, policy) > nowMs)
  const failing = voters.filter(cell => cell.state === 'failing')
  const sinceMs = Math.min(...failing.map(cell => cell.firstFailure?.atMs ?? nowMs))
  const dueMs = Math.min(...failing.map(cell => cell.firstFailure?.scheduledAtMs ?? 0))
  return voters.every(cell => {
    if (cell.state === 'failing') return true
    const answeredAtMs = cell.votedAtMs ?? Number.NEGATIVE_INFINITY
    if (answeredAtMs > sinceMs && cell.failures === 0 && beganAfter(cell.last!, dueMs, answeredAtMs)) return true
    return nowMs >= Math.max(answeredAtMs, sinceMs) + computeAnswerWaitMs(policy)
  })
}

/** Whether a region that votes and does not fail has a failed attempt that may still be re-checked. */
export function isFailureRechecked(state: MonitorState, policy: Policy, nowMs: number): boolean {
  return state.cells.some(
    cell =>
      cell.state !== 'failing' &&
      cell.failures > 0 &&
      nowMs < cell.votedAtMs! + computeAnswerWaitMs(policy) &&
      computeVoteEndMs(cell, state, policy) > nowMs,
  )
}

/**
 * Whether the check began after `dueMs`. A re-check begins after the attempt before it, whatever its slot. A slot that is
 * later than the time at which JetStream took the result comes from a clock that has been set back since, so it does not
 * show when the check began.
 */
function beganAfter({ attempt, scheduledAtMs }: VerdictResult, dueMs: number, takenAtMs: number): boolean {
  return attempt > 1 || (scheduledAtMs > dueMs && scheduledAtMs <= takenAtMs + DEFAULT_TOLERANCE.futureMs)
}

/**
 * Why to ask other probes for a check after a counting result: at the first failed attempt while the monitor is not
 * down, and at the first better result of a failing region in an outage. A request that `mayRequestChecks` deferred is
 * made with a later result of the same streak.
 */
export function findRequestReason(
  state: MonitorState,
  before: RegionTally,
  result: VerdictResult,
): ImmediateCheckRequest['reason'] | null {
  const isDeferred = (sinceMs: number) => state.askedAtMs === null || state.askedAtMs < sinceMs
  if (result.outcome === Outcome.DOWN) {
    if (state.status === 'down') return null
    return before.failures === 0 || isDeferred(before.firstFailure!.atMs) ? 'first_failure' : null
  }
  if (before.state !== 'failing' || state.outageSinceMs === null) return null
  return before.better === 0 || isDeferred(before.votedAtMs!) ? 'first_success' : null
}

/** Checks are requested at most once an interval for each monitor, and never for a monitor that no probe checks. */
export function mayRequestChecks(state: MonitorState, policy: Policy, nowMs: number): boolean {
  return policy.expires && (state.askedAtMs === null || nowMs - state.askedAtMs >= policy.intervalMs)
}

/** The request that follows from a result; `cells` are those of the monitor. */
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
 * With each request, second opinions that contradict a streak are requested again, so that an old one cannot delay an
 * outage. The time of the first unanswered request counts, so that a probe that is gone stops contradicting.
 */
export function renewSecondOpinions(cells: readonly RegionTally[], nowMs: number): readonly RegionTally[] {
  const isDue = (cell: RegionTally) => isContradicting(cell) && cell.secondOpinion?.renewalAskedAtMs === null
  return cells.some(isDue) ? cells.map(cell => (isDue(cell) ? renewSecondOpinion(cell, nowMs) : cell)) : cells
}

export function renewSecondOpinion(cell: RegionTally, nowMs: number): RegionTally {
  return { ...cell, secondOpinion: { ...cell.secondOpinion!, renewalAskedAtMs: nowMs } }
}

/** The other probe is asked again in each slot that it contradicts, even if other regions were asked recently. */
export function isOpinionOutdated(opinion: SecondOpinion, result: VerdictResult): boolean {
  return opinion.renewalAskedAtMs === null && opinion.scheduledAtMs < result.scheduledAtMs
}

export function requestSecondOpinion({ region, probeId }: VerdictResult): ImmediateCheckRequest {
  return { reason: 'disagreement', regions: [], otherProbes: [{ region, notProbeId: probeId }] }
}

const isContradicting = ({ secondOpinion }: RegionTally) =>
  secondOpinion !== null && secondOpinion.outcome !== Outcome.DOWN

/** Whether a second opinion on this cell counts: only while a failing streak grows, and only if newer than the last. */
export function isOpinionWanted(cell: RegionTally, result: VerdictResult): boolean {
  const afterMs = cell.secondOpinion?.scheduledAtMs ?? (cell.firstFailure?.scheduledAtMs ?? 0) - 1
  return isCounting(result.outcome) && cell.state !== 'failing' && cell.failures > 0 && result.scheduledAtMs > afterMs
}

export function toSecondOpinion(result: VerdictResult, nowMs: number): SecondOpinion {
  const { probeId, outcome, scheduledAtMs } = result
  return { probeId, outcome, scheduledAtMs, takenAtMs: nowMs, renewalAskedAtMs: null }
}

/**
 * Whether `result` would make the region failing although another probe of it, asked during the same streak, reached
 * the target. An opinion that was requested again and not answered in time does not count.
 */
export function isContradicted(cell: RegionTally, result: VerdictResult, policy: Policy, nowMs: number): boolean {
  const opinion = cell.secondOpinion
  if (opinion === null || result.outcome !== Outcome.DOWN || opinion.outcome === Outcome.DOWN) return false
  if (opinion.probeId === result.probeId || cell.failures + 1 < getFailureThreshold(policy.retryCount)) return false
  return opinion.renewalAskedAtMs === null || nowMs < opinion.renewalAskedAtMs + computeAnswerWaitMs(policy)
}
