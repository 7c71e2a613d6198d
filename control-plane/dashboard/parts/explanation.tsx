import type { ExplainedCheck, ExplainedVote, Explanation } from '../../verdict/core/types.ts'
import { formatCount, formatDuration, formatMs } from '../core/format.ts'
import { Scroll } from './layout/section.tsx'
import { Moment } from './moment.tsx'
import { type Bar, Strip } from './strip.tsx'

/** Whose fault a failed check was. */
const SOURCES: Record<string, string> = {
  none: '',
  target: 'target',
  resolver: 'DNS resolver',
  internal: 'Picket',
}

const STATES: Record<ExplainedVote['state'], Bar['state']> = {
  ok: 'ok',
  degraded: 'degraded',
  failing: 'failing',
  pending: 'none',
}

/** The votes of a decision as bars, in the order of the monitor's regions. */
export const toBars = (votes: readonly ExplainedVote[]): Bar[] =>
  votes.map(({ region, state, votes: counts }) => ({ name: region, state: counts ? STATES[state] : 'none' }))

/**
 * Why a status was decided, complete enough to check by hand: the rule with its numbers, and for each region its vote, its
 * failures in a row, its last check and whose fault it was.
 */
export function ExplanationPanel({ explanation }: { explanation: Explanation }) {
  const { quorum, thresholds, timings, votes } = explanation
  return (
    <div class="explanation">
      <p class="rule">
        <Strip bars={toBars(votes)} label="Votes" /> {formatRule(explanation)}
      </p>
      <p class="soft small">
        {quorum.needed} of {quorum.regions} votes needed · {formatCount(thresholds.failures_in_a_row, 'failure')} in a
        row each
        {thresholds.vote_lifetime_seconds !== null &&
          ` · a vote is valid for ${formatDuration(thresholds.vote_lifetime_seconds * 1_000)}`}
        {` · quorum ${quorum.mode}`}
        {quorum.without_probe?.length ? ` · no probe in ${quorum.without_probe.join(', ')}` : ''}
      </p>
      <VoteTable votes={votes} threshold={thresholds.failures_in_a_row} />
      <Timings timings={timings} decidedAt={explanation.at} />
    </div>
  )
}

function formatRule({ counts, rule, quorum }: Explanation): string {
  const failing = `${counts.failing} of ${quorum.regions} regions ${counts.failing === 1 ? 'is' : 'are'} failing`
  switch (rule) {
    case 'majority_failing':
      return `Down: ${failing}, which is a majority of the votes.`
    case 'some_failing':
      return `Degraded: ${failing}, which is not a majority.`
    case 'majority_degraded':
      return `Degraded: ${counts.degraded} of ${quorum.regions} regions are degraded.`
    default:
      return `Up: no region with a vote is failing.`
  }
}

/** One row a region. Used for a decision, and for the votes now. */
export const VoteTable = ({ votes, threshold }: { votes: readonly ExplainedVote[]; threshold: number }) => (
  <Scroll name="Votes by region">
    <table class="rows votes">
      <thead>
        <tr>
          <th scope="col">Region</th>
          <th scope="col">Vote</th>
          <th scope="col" class="number">
            Failures in a row
          </th>
          <th scope="col">Last check</th>
          <th scope="col">Cause</th>
          <th scope="col">At</th>
        </tr>
      </thead>
      <tbody>
        {votes.map(vote => (
          <VoteRow key={vote.region} vote={vote} threshold={threshold} />
        ))}
      </tbody>
    </table>
  </Scroll>
)

function VoteRow({ vote, threshold }: { vote: ExplainedVote; threshold: number }) {
  const { last_check: check } = vote
  const colour = vote.votes && vote.state === 'failing' ? 'down' : vote.state === 'degraded' ? 'degraded' : ''
  return (
    <tr>
      <td class="nowrap">{vote.region}</td>
      <td class={`nowrap ${colour}`}>{formatVote(vote)}</td>
      <td class="number">
        {Math.min(vote.failed_in_a_row, threshold)}/{threshold}
      </td>
      <td class="check" dir="auto">
        {check ? formatCheck(check) : 'not checked yet'}
      </td>
      <td>{check?.error ? SOURCES[check.error.source] : ''}</td>
      <td class="nowrap">{check && <Moment at={check.scheduled_at} part="time" />}</td>
    </tr>
  )
}

function formatVote({ state, votes, doubt }: ExplainedVote): string {
  if (doubt) return doubt.settled_by === null ? `${state}, in doubt` : `${state}, confirmed`
  if (state === 'pending') return 'no vote yet'
  return votes ? state : `${state}, does not count`
}

/** `200, 812 ms`, `12 ms` for a check without status codes, or `connection refused` */
export function formatCheck({ error, status_code: code, response_time_ms: ms }: ExplainedCheck): string {
  if (error) return error.message
  return [code === 0 ? '' : String(code), formatMs(ms)].filter(Boolean).join(', ')
}

/** The times of a decision in their order. */
function Timings({ timings, decidedAt }: { timings: Explanation['timings']; decidedAt: string }) {
  const { first_failure_at: firstAt, others_asked_at: askedAt, outage_seconds: outageSeconds } = timings
  if (firstAt === null && outageSeconds === null) return null
  const since = (at: string) => `${formatDuration(Date.parse(at) - Date.parse(firstAt ?? at))} later`
  return (
    <p class="soft small">
      {firstAt !== null && (
        <>
          First failure <Moment at={firstAt} part="time" />
          {askedAt !== null && ` → other regions asked ${since(askedAt)}`}
          {` → decided ${since(decidedAt)}`}
        </>
      )}
      {firstAt === null && outageSeconds !== null && `The outage lasted ${formatDuration(outageSeconds * 1_000)}.`}
    </p>
  )
}
