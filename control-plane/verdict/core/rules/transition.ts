import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import type { MonitorState, Policy, RegionTally, StatusTransition, VerdictResult } from '../types.ts'
import { explain } from './explain.ts'
import type { StatusDecision } from './status.ts'
import { computeVoteEndMs } from './votes.ts'

/**
 * The state and the transition when the status becomes `weighed.status`. An outage lasts from reaching down until
 * reaching up (decisions 4.5).
 */
export function changeStatus(
  voted: MonitorState,
  weighed: StatusDecision,
  result: VerdictResult,
  policy: Policy,
  nowMs: number,
): { state: MonitorState; transition: StatusTransition } {
  const to = weighed.status!
  const downSinceMs = voted.outageSinceMs ?? (to === 'down' ? nowMs : null)
  const voters = listVoters(voted, policy, nowMs)
  const transition: StatusTransition = {
    from: voted.status,
    to,
    atMs: nowMs,
    quorum: weighed.quorum!,
    downSinceMs,
    downDurationMs: to === 'up' && downSinceMs !== null ? nowMs - downSinceMs : null,
    failingRegions: voters.filter(cell => cell.state === 'failing').map(cell => cell.region),
    check: selectCheck(to, voters, result),
    explanation: explain(voted, weighed, result, policy, nowMs),
  }
  const state: MonitorState = {
    ...voted,
    status: to,
    statusSinceMs: nowMs,
    unchecked: null,
    outageSinceMs: to === 'up' ? null : downSinceMs,
    noMajoritySinceMs: weighed.noMajoritySinceMs,
    quorumLostSinceMs: weighed.quorumLostSinceMs,
  }
  return { state, transition }
}

function listVoters(state: MonitorState, policy: Policy, nowMs: number): RegionTally[] {
  return state.cells
    .filter(cell => computeVoteEndMs(cell, state, policy) > nowMs)
    .sort((a, b) => policy.regions.indexOf(a.region) - policy.regions.indexOf(b.region))
}

/** The result to show: the deciding one if it is of the kind that decided, else the newest of that kind. */
function selectCheck(to: StatusTransition['to'], voters: readonly RegionTally[], result: VerdictResult): VerdictResult {
  const fits = (check: VerdictResult) => (to === 'up' ? check.outcome === Outcome.UP : check.outcome !== Outcome.UP)
  if (fits(result)) return result
  const guilty = voters
    .filter(cell => cell.state !== 'ok' && cell.last !== null && fits(cell.last))
    .sort((a, b) => (b.votedAtMs ?? 0) - (a.votedAtMs ?? 0))
  return guilty[0]?.last ?? result
}
