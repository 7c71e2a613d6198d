/** A fixed example of an outage, as the API would answer it. Nothing of it is stored. Pure. */
import type { ExplainedCheck, ExplainedVote, Explanation } from '../../../../verdict/core/types.ts'
import type { OperationResponse } from '../../../core/operations.ts'

type Timeline = OperationResponse<'readIncidentTimeline'>['data']
type ExampleIncident = OperationResponse<'listIncidents'>['data'][number]

/** Whose outage it is. */
type Subject = { monitorId: string; name: string; userId: string | null }

const REGIONS = ['us-east', 'eu-west', 'ap-southeast']
const NO_ANSWER = 'connection refused'

/** An outage of nine minutes that ended a minute before `nowMs`: two of three regions fail, and a person acknowledges it. */
export function buildOutageExample({ monitorId, name, userId }: Subject, nowMs: number) {
  const startMs = nowMs - 10 * 60_000
  const at = (seconds: number) => new Date(startMs + seconds * 1_000).toISOString()
  const check = (seconds: number, attempt = 1): ExplainedCheck => ({
    ...{ status: 'down', status_code: 0, response_time_ms: 3, attempt, scheduled_at: at(seconds), probe_id: 'example' },
    error: { source: 'target', code: 'ECONNREFUSED', message: NO_ANSWER },
  })
  const healthy = (seconds: number): ExplainedCheck => ({
    ...{ status: 'up', status_code: 200, response_time_ms: 212, attempt: 1, scheduled_at: at(seconds) },
    ...{ probe_id: 'example', error: null },
  })
  const vote = (region: string, last: ExplainedCheck): ExplainedVote => {
    const isFailing = last.status !== 'up'
    return {
      ...{ region, state: isFailing ? 'failing' : 'ok', votes: true, age_seconds: 1, last_check: last },
      ...{ failed_in_a_row: isFailing ? 3 : 0, not_up_in_a_row: isFailing ? 3 : 0, better_in_a_row: 0 },
      first_failure_at: isFailing ? at(-7) : null,
    }
  }
  const explanation: Explanation = {
    ...{ from: 'up', to: 'down', at: at(0), rule: 'majority_failing' },
    quorum: { mode: 'full', regions: 3, needed: 2, voting: 3, lost_since: null },
    counts: { ok: 1, degraded: 0, failing: 2, not_voting: 0 },
    thresholds: {
      ...{ failures_in_a_row: 3, better_in_a_row: 2, interval_seconds: 60, timeout_ms: 30_000 },
      vote_lifetime_seconds: 190,
    },
    decided_by: { ...check(-1, 3), region: 'eu-west' },
    votes: [vote('us-east', check(-2, 3)), vote('eu-west', check(-1, 3)), vote('ap-southeast', healthy(-6))],
    timings: {
      ...{ first_failure_at: at(-7), others_asked_at: at(-6), no_majority_since: null },
      ...{ outage_since: at(0), outage_seconds: null },
    },
  }
  const checkItem = (region: string, seconds: number, result: ExplainedCheck): Timeline['items'][number] => ({
    ...{ kind: 'check', at: at(seconds), monitor_id: monitorId, region },
    check: result,
  })
  const failures = [
    ...[-7, -5, -2].map((seconds, i) => checkItem('us-east', seconds, check(seconds, i + 1))),
    ...[-6, -4, -1].map((seconds, i) => checkItem('eu-west', seconds, check(seconds, i + 1))),
    checkItem('ap-southeast', -6, healthy(-6)),
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  const transition = (seconds: number, to: 'up' | 'down', summary: string): Timeline['items'][number] => ({
    ...{ kind: 'transition', at: at(seconds), monitor_id: monitorId, transition_id: `example-${to}`, quorum: 'full' },
    ...{ from: to === 'up' ? 'down' : 'up', to, summary, has_explanation: to === 'down' },
    explanation: to === 'down' ? { ...explanation } : null,
  })
  const update = (seconds: number, status: 'identified', message: string): Timeline['items'][number] => ({
    ...{ kind: 'incident_updated', at: at(seconds), update_id: 'example', status, message },
    ...{ is_internal: false, author_id: userId },
  })
  const timeline: Pick<Timeline, 'items'> = {
    items: [
      ...failures,
      transition(0, 'down', `2 of 3 regions failed 3 checks in a row: us-east, eu-west (${NO_ANSWER})`),
      { kind: 'incident_opened', at: at(0), title: `${name} is down`, severity: 'major', source: 'automatic' },
      { kind: 'incident_acknowledged', at: at(74), user_id: userId },
      update(190, 'identified', 'A deployment stopped the web server. We are starting it again.'),
      ...REGIONS.map((region, i) => checkItem(region, 534 + i, healthy(534 + i))),
      transition(540, 'up', 'All 3 regions are ok again'),
      { kind: 'incident_resolved', at: at(540) },
    ],
  }
  const incident: ExampleIncident = {
    ...{ id: 'example', title: `${name} is down`, severity: 'major', status: 'resolved', message: null },
    ...{ source: 'automatic', caused_by_monitor_id: monitorId, monitor_ids: [monitorId] },
    monitors: [{ id: monitorId, name, status: 'up' }],
    ...{ started_at: at(0), resolved_at: at(540), acknowledged_at: at(74), acknowledged_by: userId },
    ...{ postmortem: null, postmortem_published_at: null, created_at: at(0), updated_at: at(540) },
  }
  return { timeline, incident }
}
