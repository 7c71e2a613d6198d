import { othersAnswered } from './partial.ts'
import type { MonitorState, Policy, Status } from './types.ts'
import {
  countVotes,
  hasQuorum,
  hasQuorumOfPresent,
  quorumLostSince,
  reducedAfterMs,
  statusByVote,
  type Tally,
} from './votes.ts'

export type Weighed = {
  status: Status
  /** null: nothing is decided, because too few regions vote, or because an unchecked monitor waits for the others */
  quorum: 'full' | 'reduced' | null
  quorumLostSinceMs: number | null
  noMajoritySinceMs: number | null
}

/** The status that the votes in `voted` lead to; `before` is the state before the newest of them (decisions 4.4, 4.5). */
export function weigh(before: MonitorState, voted: MonitorState, policy: Policy, nowMs: number): Weighed {
  const tally = countVotes(voted, policy, nowMs)
  const quorumLostSinceMs = quorumLostSince(before, tally, policy, nowMs)
  // an unchecked monitor is decided like a new one
  const shown = before.unchecked ? null : before.status
  const quorum = quorumOf(tally, quorumLostSinceMs, reducedAfterMs(shown, policy), nowMs)
  if (quorum === null) return asBefore(before, quorumLostSinceMs)
  const vote = statusByVote(tally)
  const isMajorityGone = shown === 'down' && vote !== 'down'
  const noMajoritySinceMs = isMajorityGone ? (before.noMajoritySinceMs ?? nowMs) : null
  const mayDegrade = vote !== 'degraded' || mayEnterDegraded(voted, tally, noMajoritySinceMs, policy, nowMs)
  if (!mayDegrade && before.unchecked) return asBefore(before, quorumLostSinceMs)
  const status = mayDegrade ? vote : before.status
  return { status, quorum, quorumLostSinceMs, noMajoritySinceMs: status === 'down' ? noMajoritySinceMs : null }
}

const asBefore = ({ status, noMajoritySinceMs }: MonitorState, quorumLostSinceMs: number | null): Weighed => ({
  status,
  quorum: null,
  quorumLostSinceMs,
  noMajoritySinceMs,
})

function quorumOf(tally: Tally, lostSinceMs: number | null, reducedAfterMs: number, nowMs: number): Weighed['quorum'] {
  if (hasQuorum(tally)) return 'full'
  if (hasQuorumOfPresent(tally)) return 'reduced'
  return lostSinceMs !== null && nowMs - lostSinceMs >= reducedAfterMs ? 'reduced' : null
}

/**
 * From down only after an interval without a majority failing. From up, a minority of failing regions has to wait for
 * the others; a majority of degraded ones has not.
 */
function mayEnterDegraded(
  voted: MonitorState,
  tally: Tally,
  noMajoritySinceMs: number | null,
  policy: Policy,
  nowMs: number,
): boolean {
  if (noMajoritySinceMs !== null) return nowMs - noMajoritySinceMs >= policy.intervalMs
  return tally.degraded * 2 > tally.voting || othersAnswered(voted, policy, nowMs)
}
