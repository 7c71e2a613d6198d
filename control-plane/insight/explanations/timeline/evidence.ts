import type { CheckSelection } from '../../analytics/history-store.ts'
import type { TimelineTransition } from './timeline-store.ts'

/** What is written in one transaction has times this close to each other. */
const SAME_MOMENT_MS = 1_000
/** How much earlier than the first failure a healthy check of the same region is looked for. */
const EARLIER_MS = 3_600_000

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
export function selectEvidence(transitions: readonly TimelineTransition[], startedAt: Date): EvidenceSelection | null {
  const opening = findOpening(transitions, startedAt)
  const votes = (opening?.explanation?.votes ?? []).filter(vote => vote.votes)
  const failing = votes.find(({ state, last_check: check }) => state === 'failing' && check?.status === 'down')
  if (!opening || !failing) return null
  const healthy = votes.find(({ state, last_check: check }) => state === 'ok' && check?.status === 'up')
  const failedMs = Date.parse(failing.first_failure_at ?? failing.last_check!.scheduled_at)
  return {
    monitorId: opening.monitor_id,
    transitionId: opening.id,
    failing: toSelection(failing.region, failing.last_check!),
    healthy: healthy
      ? toSelection(healthy.region, healthy.last_check!)
      : { region: failing.region, fromMs: failedMs - EARLIER_MS, toMs: failedMs, status: 'up' },
  }
}

/** The last decision `down` until the start of the incident, or else the first one after it. */
function findOpening(transitions: readonly TimelineTransition[], startedAt: Date): TimelineTransition | undefined {
  const down = transitions.filter(({ to }) => to === 'down')
  const isBefore = ({ at }: TimelineTransition) => at.getTime() < startedAt.getTime() + SAME_MOMENT_MS
  return down.findLast(isBefore) ?? down[0]
}

function toSelection(region: string, check: { scheduled_at: string; attempt: number }): CheckSelection {
  const ms = Date.parse(check.scheduled_at)
  return { region, fromMs: ms, toMs: ms + 1, attempt: check.attempt }
}
