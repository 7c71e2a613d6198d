import { Outcome } from '../../../../shared/checks/result.ts'
import { computeSlots, findSlotFrom } from '../../../../shared/checks/slots.ts'
import {
  isCheckedByProbes,
  listConfigurationIssues,
} from '../../../monitoring/monitors/settings/configuration-issues.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { isVoteHeld } from '../../../verdict/core/confirmation/held-vote.ts'
import { listAbsentRegions } from '../../../verdict/core/rules/absences.ts'
import { explainVotes } from '../../../verdict/core/rules/explain.ts'
import { findQuorum } from '../../../verdict/core/rules/status.ts'
import {
  computeQuorumLostSince,
  computeReducedQuorumDelayMs,
  computeVoteLifetimeMs,
  countVotes,
  decideStatusByVotes,
} from '../../../verdict/core/rules/votes.ts'
import type { ExplainedCheck, ExplainedVote, RegionTally } from '../../../verdict/core/types.ts'
import type { CurrentVerdict } from './current-state.ts'
import type { NO_VOTE_REASONS } from './votes-schema.ts'

/** The part of the answer that comes from the history. `since`: the first check of the current run, and its result. */
export type NewestChecks = ReadonlyMap<
  string,
  { check: ExplainedCheck; run: { outcome: Outcome; sinceMs: number } | null }
>

/** What each region says about a monitor at `nowMs`. `checks` is null while the history cannot be read. */
export function buildVotes(
  monitor: StoredMonitor,
  { state, policy }: CurrentVerdict,
  checks: NewestChecks | null,
  nowMs: number,
) {
  const tally = countVotes(state, policy, nowMs)
  const lostSinceMs = computeQuorumLostSince(state, tally, policy, nowMs)
  const shown = state.unchecked ? null : state.status
  const mode = findQuorum(tally, lostSinceMs, computeReducedQuorumDelayMs(shown, policy), nowMs)
  const { quorum, votes, ...explained } = explainVotes(state, policy, nowMs)
  const absent = new Set(listAbsentRegions(state, policy, nowMs))
  const findReason = (vote: ExplainedVote) => {
    const cell = state.cells.find(({ region }) => region === vote.region)
    return vote.votes ? null : findNoVoteReason(monitor, cell, absent.has(vote.region), { nowMs, policy })
  }
  const { regions, needed, voting, ...withoutProbe } = quorum
  return {
    status_by_votes: mode && decideStatusByVotes(tally),
    failing_votes_needed: mode && Math.floor(voting / 2) + 1,
    quorum: { mode, regions, needed, voting, lost_since: toDate(lostSinceMs), ...withoutProbe },
    ...explained,
    votes: votes.map(vote => ({
      ...vote,
      vote: vote.votes && vote.state !== 'pending' ? vote.state : null,
      no_vote_reason: findReason(vote),
      vote_since: findVoteSince(vote, checks),
      newest_check: checks?.get(vote.region)?.check ?? null,
      next_check_at: absent.has(vote.region) ? null : findNextCheck(monitor, vote.region, nowMs),
    })),
  }
}

/** Why a region has no vote. The order matters: the first reason is the one to act on. */
function findNoVoteReason(
  monitor: StoredMonitor,
  cell: RegionTally | undefined,
  isAbsent: boolean,
  { nowMs, policy }: { nowMs: number; policy: CurrentVerdict['policy'] },
): (typeof NO_VOTE_REASONS)[number] {
  if (monitor.isPaused) return 'paused'
  if (listConfigurationIssues(monitor).length > 0) return 'incomplete'
  if (isAbsent) return 'no_probe'
  if (cell === undefined || cell.votedAtMs === null) return 'not_checked'
  if (cell.votedAtMs + computeVoteLifetimeMs(policy) <= nowMs) return 'too_old'
  if (isVoteHeld(cell)) return 'in_doubt'
  // a region that had no probe for a while votes after its first chain, like a new one
  return cell.state === 'pending' ? 'not_decided' : 'not_checked'
}

const OUTCOME_OF_VOTE = { ok: Outcome.UP, degraded: Outcome.DEGRADED, failing: Outcome.DOWN }

function findVoteSince(vote: ExplainedVote, checks: NewestChecks | null): Date | null {
  if (!vote.votes || vote.state === 'pending') return null
  if (vote.state === 'failing' && vote.first_failure_at !== null) return new Date(vote.first_failure_at)
  const run = checks?.get(vote.region)?.run
  return run?.outcome === OUTCOME_OF_VOTE[vote.state] ? new Date(run.sinceMs) : null
}

/** The next slot of the region. Null for a monitor that no probe checks. */
function findNextCheck(monitor: StoredMonitor, region: string, nowMs: number): Date | null {
  if (!isCheckedByProbes(monitor)) return null
  return new Date(findSlotFrom(computeSlots(monitor.id, region, monitor.intervalSeconds), nowMs + 1))
}

const toDate = (ms: number | null) => (ms === null ? null : new Date(ms))
