import { HEARTBEAT_REGION } from '../../monitoring/monitors/types.ts'
import type { ExplainedVote, Explanation } from './types.ts'

/**
 * The explanation as one English sentence: "2 of 3 regions failed 3 checks in a row: us-east (connection refused),
 * eu-west (timed out)."
 */
export function formatExplanation(explanation: Explanation): string {
  const { votes, quorum, to, data_source: value } = explanation
  if (value) return `${value.reason}${to === 'up' ? formatOutage(explanation) : ''}.`
  if (votes[0]?.region === HEARTBEAT_REGION) return formatHeartbeat(explanation)
  const reduced = quorum.mode === 'reduced' ? ` Decided by reduced quorum: ${formatReduction(quorum)}.` : ''
  if (to === 'up') return `${formatUp(explanation)}${reduced}`
  const failing = votes.filter(vote => vote.votes && vote.state === 'failing')
  const slow = votes.filter(vote => vote.votes && vote.state === 'degraded')
  const parts = [
    ...(failing.length > 0
      ? [
          `${failing.length} of ${formatVoters(explanation)} ${formatStreak(failing, 'failed')}: ${formatReasons(failing)}`,
        ]
      : []),
    ...(slow.length > 0
      ? [`${slow.length} of ${formatVoters(explanation)} ${formatStreak(slow, 'degraded')}: ${formatReasons(slow)}`]
      : []),
  ]
  return `${parts.join('; ')}.${formatDoubts(failing)}${reduced}`
}

const SETTLED = {
  region: 'another region fails too',
  witness: 'a check from another region got a server error',
  probe: 'it still fails after that',
  limit: 'no other region could confirm or contradict it in time',
} as const

/** " us-east failed for many hosts at the same time; a check from eu-west failed too." */
function formatDoubts(failing: readonly ExplainedVote[]): string {
  return failing
    .map(({ region, doubt }) => {
      if (!doubt?.settled_by) return ''
      const { settled_by: by, witness } = doubt
      const reason =
        by === 'witness' && witness ? `a check from ${witness.region} got status ${witness.status_code}` : SETTLED[by]
      return ` ${region} failed for many hosts at the same time; ${reason}.`
    })
    .join('')
}

/** "1 of 2 regions vote; us-east has no probe" */
function formatReduction({ voting, regions, without_probe: absent = [] }: Explanation['quorum']): string {
  const reason = absent.length === 0 ? '' : `; ${absent.join(', ')} ${absent.length === 1 ? 'has' : 'have'} no probe`
  return `${voting} of ${regions} regions vote${reason}`
}

/** A heartbeat has no regions: "Overdue: no success within 1 hour." or "A success arrived, after an outage of 90 s." */
function formatHeartbeat(explanation: Explanation): string {
  const { to, decided_by: ping } = explanation
  if (to === 'up') return `A success arrived${formatOutage(explanation)}.`
  return ping.error?.code === 'overdue' ? `Overdue: ${ping.error.message}.` : `The job failed: ${ping.error?.message}`
}

function formatUp(explanation: Explanation): string {
  const { counts } = explanation
  const slow = counts.degraded === 0 ? '' : `, ${counts.degraded} degraded`
  return `No region fails${formatOutage(explanation)}: ${counts.ok} of ${formatVoters(explanation)} up${slow}.`
}

const formatOutage = ({ timings: { outage_seconds: seconds } }: Explanation) =>
  seconds === null ? '' : `, after an outage of ${Math.round(seconds)} s`

/** "3 regions", or "2 voting regions" when not all of them vote. */
function formatVoters({ quorum: { voting, regions } }: Explanation): string {
  return `${voting}${voting === regions ? '' : ' voting'} ${voting === 1 ? 'region' : 'regions'}`
}

function formatStreak(votes: readonly ExplainedVote[], verb: 'failed' | 'degraded'): string {
  const counts = votes.map(vote => (verb === 'failed' ? vote.failed_in_a_row : vote.not_up_in_a_row))
  const least = Math.min(...counts)
  const checks = least === 1 ? '1 check' : `${least} checks in a row`
  if (least === 0) return verb === 'failed' ? 'still fail' : 'are still degraded'
  return verb === 'failed' ? `failed ${checks}` : `was not up in ${checks}`
}

function formatReasons(votes: readonly ExplainedVote[]): string {
  return votes.map(vote => `${vote.region} (${formatReason(vote)})`).join(', ')
}

function formatReason({ last_check: check }: ExplainedVote): string {
  if (check?.error) return check.error.message || check.error.code
  if (check?.status === 'degraded') return `degraded, ${check.response_time_ms} ms`
  if (check?.status === 'up') return 'answered once since then'
  return check && check.status_code > 0 ? `status ${check.status_code}` : 'no answer'
}
