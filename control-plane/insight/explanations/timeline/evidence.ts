import type { ExplainedCheck } from '../../../verdict/core/types.ts'
import type { CheckSelection } from '../../analytics/history-store.ts'
import type { IncidentTransition } from './timeline-store.ts'

/** How much earlier than the first failure a healthy check of the same region is looked for, at least. */
const MIN_EARLIER_MS = 3_600_000
const EARLIER_INTERVALS = 3

/** The two checks to compare. `healthy`: of another region, or of the same one before the outage. */
export type EvidenceSelection = {
  monitorId: string
  transitionId: string
  failing: CheckSelection
  healthy: CheckSelection
}

/**
 * Selects the last check of a failing region in the decision that opened an incident, and one of a healthy region to compare.
 * Null without such a decision, or when its explanation was deleted.
 */
export function selectEvidence(opening: IncidentTransition | null): EvidenceSelection | null {
  const votes = (opening?.explanation?.votes ?? []).filter(vote => vote.votes)
  const failing = votes.find(({ state, last_check: check }) => state === 'failing' && check?.status === 'down')
  if (!opening || !failing) return null
  const healthy = votes.find(({ state, last_check: check }) => state === 'ok' && check?.status === 'up')
  const failedMs = Date.parse(failing.first_failure_at ?? failing.last_check!.scheduled_at)
  const earlierMs = Math.max(MIN_EARLIER_MS, EARLIER_INTERVALS * opening.interval_seconds * 1_000)
  return {
    monitorId: opening.monitor_id,
    transitionId: opening.id,
    failing: toSelection(failing.region, failing.last_check!),
    healthy: healthy
      ? toSelection(healthy.region, healthy.last_check!)
      : { region: failing.region, status: 'up', fromMs: failedMs - earlierMs, toMs: failedMs },
  }
}

function toSelection(region: string, { status, scheduled_at, attempt, probe_id }: ExplainedCheck): CheckSelection {
  const ms = Date.parse(scheduled_at)
  return { region, status, fromMs: ms, toMs: ms + 1, attempt, probeId: probe_id }
}
