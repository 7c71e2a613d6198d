import { isVoteHeld } from '../confirmation/held-vote.ts'
import type { MonitorState, Policy, RegionTally, VerdictStatus } from '../types.ts'
import { computeVoteLostMs, listAbsentRegions } from './absences.ts'

/** How long a quorum must be lost before the existing votes decide, in ms, if each region was due in that time. */
const REDUCED_QUORUM_DELAY_MS = 5 * 60_000
/** The waits between the attempts of a chain, and the time until its results are counted, in ms. */
const CHAIN_WAITS_MS = 60_000

/** The first verdict is made with the third check at the latest. A new monitor is checked in all regions at once. */
const FIRST_AFTER_INTERVALS = 2.5

/**
 * How long the quorum must be lost for a monitor of this status before the existing votes decide, in ms. Each region has a slot
 * in that time, and its chain ends. Otherwise one region could decide before the others have checked.
 */
export function computeReducedQuorumDelayMs(status: VerdictStatus, policy: Policy): number {
  const { intervalMs, timeoutMs, retryCount } = policy
  if (status === null) return Math.min(REDUCED_QUORUM_DELAY_MS, FIRST_AFTER_INTERVALS * intervalMs)
  return Math.max(REDUCED_QUORUM_DELAY_MS, intervalMs + (retryCount + 1) * timeoutMs + CHAIN_WAITS_MS)
}

/** `absent`: regions without a probe, which do not count for the quorum. */
export type VoteCount = { regions: number; absent: number; voting: number; failing: number; degraded: number }

/** How long a vote counts, in ms. */
export function computeVoteLifetimeMs(policy: Policy): number {
  return policy.expires ? 3 * policy.intervalMs + policy.timeoutMs : Number.POSITIVE_INFINITY
}

/** The lifetime of a vote where regions can outvote each other; 0 if one region decides alone. */
export const computeOutvoteLifetimeMs = (policy: Policy): number =>
  policy.regions.length > 1 ? computeVoteLifetimeMs(policy) : 0

/** When the vote of a region expires or was lost. -Infinity if it has none: before its first decision, or in doubt. */
export function computeVoteEndMs(cell: RegionTally, state: MonitorState, policy: Policy): number {
  if (cell.state === 'pending' || cell.votedAtMs === null || isVoteHeld(cell)) return Number.NEGATIVE_INFINITY
  const seenAtMs = state.restoredAtMs === null ? cell.votedAtMs : Math.max(cell.votedAtMs, state.restoredAtMs)
  const endsMs = seenAtMs + computeVoteLifetimeMs(policy)
  return policy.absences ? Math.min(endsMs, computeVoteLostMs(cell, policy.absences, state.restoredAtMs)) : endsMs
}

export function countVotes(state: MonitorState, policy: Policy, nowMs: number): VoteCount {
  let voting = 0
  let failing = 0
  let degraded = 0
  for (const cell of state.cells) {
    if (computeVoteEndMs(cell, state, policy) <= nowMs) continue
    voting++
    if (cell.state === 'failing') failing++
    else if (cell.state === 'degraded') degraded++
  }
  const absent = policy.absences ? listAbsentRegions(state, policy, nowMs).length : 0
  return { regions: policy.regions.length, absent, voting, failing, degraded }
}

/** How many votes a verdict needs: more than half of the regions. */
export const computeQuorum = (regions: number) => Math.floor(regions / 2) + 1

export const hasQuorum = (tally: VoteCount) => tally.voting >= computeQuorum(tally.regions)

/** More than half of the regions that have a probe vote. */
export const hasQuorumOfPresent = ({ voting, regions, absent }: VoteCount) => voting >= computeQuorum(regions - absent)

/** The status by the votes alone, independent of the previous status. */
export function decideStatusByVotes({ voting, failing, degraded }: VoteCount): 'up' | 'down' | 'degraded' {
  if (failing * 2 > voting) return 'down'
  return failing > 0 || degraded * 2 > voting ? 'degraded' : 'up'
}

/**
 * Since when the quorum is lost with at least one region voting all the time; null with a quorum, or while no region
 * votes. `before` has the votes before the result taken at `nowMs`, `tally` counts them with it. A moment without any
 * vote restarts the wait. If the others had a quorum while a region had no probe, the wait begins with its return. Further
 * returns do not restart it, so that it ends.
 */
export function computeQuorumLostSince(
  before: MonitorState,
  tally: VoteCount,
  policy: Policy,
  nowMs: number,
): number | null {
  if (hasQuorumOfPresent(tally) || tally.voting === 0) return null
  const ends = before.cells.map(cell => computeVoteEndMs(cell, before, policy))
  if (!ends.some(endMs => endMs > nowMs)) return nowMs
  if (before.quorumLostSinceMs !== null) return before.quorumLostSinceMs
  const changes = [nowMs, ...ends, ...listPresenceChanges(policy)].filter(ms => Number.isFinite(ms) && ms <= nowMs)
  const hadQuorumUntil = (ms: number) => hasQuorumOfPresent(countVotes(before, policy, ms - 1))
  return changes.sort((a, b) => b - a).find(hadQuorumUntil) ?? nowMs
}

const listPresenceChanges = ({ regions, absences }: Policy): number[] =>
  regions.flatMap(region => {
    const absence = absences?.get(region)
    return absence ? [absence.fromMs, absence.untilMs] : []
  })
