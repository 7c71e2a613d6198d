import { formatDuration } from '../../../alerting/events/duration.ts'
import type { PostgresFacts } from '../facts.ts'
import { type HealthFinding, reportHealthy, reportProblem } from './health-finding.ts'

/** For so long after it was measured, a miss is something to look at. */
const MAX_MISS_AGE_MS = 3_600_000

const ADVICE =
  'Outages of monitors may be reported late, too. Were NATS, PostgreSQL and a probe in each region working? See picket_canary_detection_seconds.'

/** Whether planned outages of the last day were noticed and reported as guaranteed. */
export function assessGuarantee({ nowMs, plannedOutages }: PostgresFacts): HealthFinding[] {
  const { kept, missed, lastMiss } = plannedOutages
  const all = kept + missed
  if (all === 0) return [reportHealthy('guarantee', 'No planned outages were compared with the guarantee within a day')]
  if (lastMiss === null) {
    return [reportHealthy('guarantee', `All ${all} planned outages within a day were reported as guaranteed`)]
  }
  const much = lastMiss.lateSeconds === null ? 'never' : `${formatDuration(lastMiss.lateSeconds * 1_000)} late`
  const text = `${missed} of ${all} planned outages within a day were reported later than guaranteed, or never; the last one (${lastMiss.kind}) ${much}`
  const isFresh = nowMs - lastMiss.measuredAtMs < MAX_MISS_AGE_MS
  return [isFresh ? reportProblem('guarantee', text, lastMiss.startedAtMs, ADVICE) : reportHealthy('guarantee', text)]
}
