import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import type { MonitorState, Policy, RegionTally, StatusTransition, VerdictResult } from '../types.ts'
import { explain } from './explain.ts'
import type { StatusDecision } from './status.ts'
import { computeVoteEndMs } from './votes.ts'

/** The state and the transition when the status becomes `decided.status`. An outage lasts from `down` until `up`. */
export function changeStatus(
  voted: MonitorState,
  decided: StatusDecision,
  result: VerdictResult,
  policy: Policy,
  nowMs: number,
): { state: MonitorState; transition: StatusTransition } {
  const to = decided.status!
  const downSinceMs = voted.outageSinceMs ?? (to === 'down' ? nowMs : null)
  const voters = listVoters(voted, policy, nowMs)
  const transition: StatusTransition = {
    from: voted.status,
    to,
    atMs: nowMs,
    quorum: decided.quorum!,
    downSinceMs,
    downDurationMs: to === 'up' && downSinceMs !== null ? nowMs - downSinceMs : null,
    failingRegions: voters.filter(cell => cell.state === 'failing').map(cell => cell.region),
    check: selectCheck(to, voters, result),
    explanation: explain(voted, decided, result, policy, nowMs),
  }
  const state: MonitorState = {
    ...voted,
    status: to,
    statusSinceMs: nowMs,
    unchecked: null,
    outageSinceMs: to === 'up' ? null : downSinceMs,
    noMajoritySinceMs: decided.noMajoritySinceMs,
    quorumLostSinceMs: decided.quorumLostSinceMs,
  }
  return { state, transition }
}

function listVoters(state: MonitorState, policy: Policy, nowMs: number): RegionTally[] {
  return state.cells
    .filter(cell => computeVoteEndMs(cell, state, policy) > nowMs)
    .sort((a, b) => policy.regions.indexOf(a.region) - policy.regions.indexOf(b.region))
}

/** The result to show: the deciding one if its outcome fits the new status, otherwise the newest one that fits. */
function selectCheck(to: StatusTransition['to'], voters: readonly RegionTally[], result: VerdictResult): VerdictResult {
  const fits = (check: VerdictResult) => (to === 'up' ? check.outcome === Outcome.UP : check.outcome !== Outcome.UP)
  if (fits(result)) return result
  const matching = voters
    .filter(cell => cell.state !== 'ok' && cell.last !== null && fits(cell.last))
    .sort((a, b) => (b.votedAtMs ?? 0) - (a.votedAtMs ?? 0))
  return matching[0]?.last ?? result
}

/** Whether a transition happened during an outage, which lasts from `down` until `up`. */
export function wasInOutage({ from, to, downSinceMs, atMs }: StatusTransition): boolean {
  if (from === 'down') return true
  return to === 'down' ? downSinceMs !== null && downSinceMs < atMs : downSinceMs !== null
}
