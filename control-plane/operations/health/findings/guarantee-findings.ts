import { formatDuration } from '../../../alerting/events/duration.ts'
import type { PostgresFacts } from '../facts.ts'
import { type HealthFinding, reportHealthy, reportProblem } from './health-finding.ts'

/** A miss is a problem for this long after it was measured. */
const MAX_MISS_AGE_MS = 3_600_000

const ADVICE =
  'Outages of monitors may be reported late as well. Check NATS, PostgreSQL, the probes of each region, and picket_canary_detection_seconds.'

/** Whether planned outages of the last day were reported within the guarantee. */
export function assessGuarantee({ nowMs, plannedOutages }: PostgresFacts): HealthFinding[] {
  const { kept, missed, lastMiss } = plannedOutages
  const all = kept + missed
  if (all === 0)
    return [reportHealthy('guarantee', 'No planned outages of the last day were compared with the guarantee')]
  if (lastMiss === null) {
    return [reportHealthy('guarantee', `All ${all} planned outages of the last day were reported within the guarantee`)]
  }
  const much = lastMiss.lateSeconds === null ? 'never' : `${formatDuration(lastMiss.lateSeconds * 1_000)} late`
  const text = `${missed} of ${all} planned outages of the last day were reported later than guaranteed, or never; the last one (${lastMiss.kind}) ${much}`
  const isFresh = nowMs - lastMiss.measuredAtMs < MAX_MISS_AGE_MS
  return [isFresh ? reportProblem('guarantee', text, lastMiss.startedAtMs, ADVICE) : reportHealthy('guarantee', text)]
}
