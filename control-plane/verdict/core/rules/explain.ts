import { FailureSource, STATUS_OF_OUTCOME } from '../../../../shared/checks/result.ts'
import type {
  ExplainedCheck,
  ExplainedVote,
  Explanation,
  MonitorState,
  Policy,
  RegionDoubt,
  RegionTally,
  VerdictResult,
} from '../types.ts'
import { listAbsentRegions } from './absences.ts'
import type { StatusDecision } from './status.ts'
import { getFailureThreshold, getRecoveryThreshold } from './streaks.ts'
import { computeQuorum, computeVoteEndMs, computeVoteLifetimeMs, countVotes, type VoteCount } from './votes.ts'

/** Whose fault a failure was, as explanations name it. */
export const SOURCES = {
  [FailureSource.NONE]: 'none',
  [FailureSource.TARGET]: 'target',
  [FailureSource.RESOLVER]: 'resolver',
  [FailureSource.INTERNAL]: 'internal',
} as const

/** Why the votes in `voted` lead to `decided.status`, complete enough to check by hand. */
export function explain(
  voted: MonitorState,
  decided: StatusDecision,
  result: VerdictResult,
  policy: Policy,
  nowMs: number,
): Explanation {
  const tally = countVotes(voted, policy, nowMs)
  const outageSinceMs = voted.outageSinceMs ?? (decided.status === 'down' ? nowMs : null)
  const noMajoritySinceMs = decided.noMajoritySinceMs ?? voted.noMajoritySinceMs
  const votes = explainVotes({ ...voted, outageSinceMs, noMajoritySinceMs }, policy, nowMs)
  const { regions, needed, voting, ...absent } = votes.quorum
  return {
    from: voted.status,
    to: decided.status!,
    at: iso(nowMs),
    rule: getRule(decided.status, tally),
    quorum: {
      mode: decided.quorum!,
      regions,
      needed,
      voting,
      lost_since: isoOrNull(decided.quorumLostSinceMs),
      ...absent,
    },
    counts: votes.counts,
    thresholds: votes.thresholds,
    decided_by: { region: result.region, ...explainCheck(result) },
    votes: votes.votes,
    timings: votes.timings,
  }
}

/** The part of an explanation that needs no decision. */
type ExplainedVotes = Pick<Explanation, 'counts' | 'thresholds' | 'votes' | 'timings'> & {
  quorum: Omit<Explanation['quorum'], 'mode' | 'lost_since'>
}

/** What each region says at `nowMs`, and what a verdict needs. */
export function explainVotes(state: MonitorState, policy: Policy, nowMs: number): ExplainedVotes {
  const { regions, absent, voting, failing, degraded } = countVotes(state, policy, nowMs)
  const { outageSinceMs } = state
  return {
    quorum: {
      regions,
      needed: computeQuorum(regions),
      voting,
      ...(absent > 0 && { without_probe: listAbsentRegions(state, policy, nowMs) }),
    },
    counts: { ok: voting - failing - degraded, degraded, failing, not_voting: regions - voting },
    thresholds: {
      failures_in_a_row: getFailureThreshold(policy.retryCount),
      better_in_a_row: getRecoveryThreshold(policy.retryCount),
      interval_seconds: policy.intervalMs / 1000,
      timeout_ms: policy.timeoutMs,
      vote_lifetime_seconds: policy.expires ? computeVoteLifetimeMs(policy) / 1000 : null,
    },
    votes: policy.regions.map(region => explainVote(region, state, policy, nowMs)),
    timings: {
      first_failure_at: isoOrNull(findFirstFailureMs(state, policy, nowMs)),
      others_asked_at: isoOrNull(state.askedAtMs),
      no_majority_since: isoOrNull(state.noMajoritySinceMs),
      outage_since: isoOrNull(outageSinceMs),
      outage_seconds: outageSinceMs === null ? null : (nowMs - outageSinceMs) / 1000,
    },
  }
}

function getRule(status: StatusDecision['status'], { failing }: VoteCount): Explanation['rule'] {
  if (status === 'down') return 'majority_failing'
  if (status === 'up') return 'none_failing'
  return failing > 0 ? 'some_failing' : 'majority_degraded'
}

function explainVote(region: string, voted: MonitorState, policy: Policy, nowMs: number): ExplainedVote {
  const cell = voted.cells.find(one => one.region === region)
  if (cell === undefined) return { ...NO_RESULT, region }
  return {
    region,
    state: cell.state,
    votes: computeVoteEndMs(cell, voted, policy) > nowMs,
    age_seconds: cell.votedAtMs === null ? null : Math.max(0, nowMs - cell.votedAtMs) / 1000,
    failed_in_a_row: cell.failures,
    not_up_in_a_row: cell.notUp,
    better_in_a_row: cell.better,
    first_failure_at: isoOrNull(cell.firstFailure?.atMs ?? null),
    last_check: cell.last === null ? null : explainCheck(cell.last),
    ...(cell.doubt && { doubt: explainDoubt(cell.doubt) }),
  }
}

const explainDoubt = ({ settledBy, witness }: RegionDoubt) => ({
  settled_by: settledBy,
  witness: witness && { region: witness.check.region, ...explainCheck(witness.check) },
})

const NO_RESULT: Omit<ExplainedVote, 'region'> = {
  state: 'pending',
  votes: false,
  age_seconds: null,
  failed_in_a_row: 0,
  not_up_in_a_row: 0,
  better_in_a_row: 0,
  first_failure_at: null,
  last_check: null,
}

function explainCheck({ outcome, statusCode, responseTimeMs, error, ...rest }: VerdictResult): ExplainedCheck {
  return {
    status: STATUS_OF_OUTCOME[outcome],
    status_code: statusCode,
    response_time_ms: responseTimeMs,
    error: error && { source: SOURCES[error.source], code: error.code, message: error.message },
    attempt: rest.attempt,
    scheduled_at: iso(rest.scheduledAtMs),
    probe_id: rest.probeId,
  }
}

/** The earliest failure behind the failing votes. */
function findFirstFailureMs(voted: MonitorState, policy: Policy, nowMs: number): number | null {
  const isFailingVote = (cell: RegionTally) => cell.state === 'failing' && computeVoteEndMs(cell, voted, policy) > nowMs
  const times = voted.cells.filter(isFailingVote).flatMap(cell => cell.firstFailure?.atMs ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

const iso = (ms: number) => new Date(ms).toISOString()
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms))
