import { haveOthersAnswered, isFailureRechecked } from '../confirmation/second-opinion.ts'
import type { MonitorState, Policy, VerdictStatus } from '../types.ts'
import {
  computeQuorumLostSince,
  computeReducedQuorumDelayMs,
  countVotes,
  decideStatusByVotes,
  hasQuorum,
  hasQuorumOfPresent,
  type VoteCount,
} from './votes.ts'

export type StatusDecision = {
  status: VerdictStatus
  /** null: no decision, because too few regions vote, or because an unchecked monitor waits for its other regions */
  quorum: 'full' | 'reduced' | null
  quorumLostSinceMs: number | null
  noMajoritySinceMs: number | null
}

/**
 * The status that the votes in `voted` lead to (docs/design/verdict.md#votes); `before`: without the newest of them.
 * `isFailure`: the newest result is a failure.
 */
export function decideStatus(
  before: MonitorState,
  voted: MonitorState,
  isFailure: boolean,
  policy: Policy,
  nowMs: number,
): StatusDecision {
  const tally = countVotes(voted, policy, nowMs)
  const quorumLostSinceMs = computeQuorumLostSince(before, tally, policy, nowMs)
  // an unchecked monitor is decided like a new one
  const shown = before.unchecked ? null : before.status
  const quorum = findQuorum(tally, quorumLostSinceMs, computeReducedQuorumDelayMs(shown, policy), nowMs)
  if (quorum === null) return keepStatus(before, quorumLostSinceMs)
  const vote = decideStatusByVotes(tally)
  // the votes of others ended, so older failures became a majority: the next failure confirms them
  if (vote === 'down' && !isFailure && shown !== null && shown !== 'down') return keepStatus(before, quorumLostSinceMs)
  // a single source has no other regions to wait for
  const isMajorityGone = policy.expires && shown === 'down' && vote !== 'down'
  const noMajoritySinceMs = isMajorityGone ? (before.noMajoritySinceMs ?? nowMs) : null
  const mayDegrade = vote !== 'degraded' || mayEnterDegraded(voted, tally, noMajoritySinceMs, policy, nowMs)
  if (!mayDegrade && before.unchecked) return keepStatus(before, quorumLostSinceMs)
  const status = mayDegrade ? vote : before.status
  return { status, quorum, quorumLostSinceMs, noMajoritySinceMs: status === 'down' ? noMajoritySinceMs : null }
}

const keepStatus = ({ status, noMajoritySinceMs }: MonitorState, quorumLostSinceMs: number | null): StatusDecision => ({
  status,
  quorum: null,
  quorumLostSinceMs,
  noMajoritySinceMs,
})

/** Whether the votes are enough for a decision. `reducedAfterMs`: how long the quorum must be lost before those that exist decide. */
export function findQuorum(
  tally: VoteCount,
  lostSinceMs: number | null,
  reducedAfterMs: number,
  nowMs: number,
): StatusDecision['quorum'] {
  if (hasQuorum(tally)) return 'full'
  if (hasQuorumOfPresent(tally)) return 'reduced'
  return lostSinceMs !== null && nowMs - lostSinceMs >= reducedAfterMs ? 'reduced' : null
}

/**
 * From down, only after an interval without a failing majority, and when no region is re-checked that could make it one
 * again. From up, a failing minority has to wait for the other regions; a degraded majority does not.
 */
function mayEnterDegraded(
  voted: MonitorState,
  tally: VoteCount,
  noMajoritySinceMs: number | null,
  policy: Policy,
  nowMs: number,
): boolean {
  if (noMajoritySinceMs !== null)
    return nowMs - noMajoritySinceMs >= policy.intervalMs && !isFailureRechecked(voted, policy, nowMs)
  return tally.degraded * 2 > tally.voting || haveOthersAnswered(voted, policy, nowMs)
}
