import type { VerdictMonitorRow } from '../../control-plane/verdict/reader/counting/policy.ts'
import { sumRecheckDelaysMs } from '../../shared/checks/rechecks.ts'
import type { CheckOutcome } from './checks.ts'
import type { AppliedFault } from './faults.ts'
import type { ChaosScale } from './plan.ts'
import type { ActualOutage } from './targets.ts'

type Timing = Pick<VerdictMonitorRow, 'intervalSeconds' | 'timeoutMs' | 'retryCount'>
/** `reportedAtMs` null: it was not reported. Times as those of the faults. */
export type TimedOutage = ActualOutage & { timing: Timing; reportedAtMs: number | null }

/** For the verdict, the delivery and a machine that has much to do. */
const MARGIN_MS = 10_000
/** For each fault: so long it takes until another process does the work, or the same one works again. */
const RECOVERY_MS = 15_000

/**
 * The latest time at which an outage has to be reported: the next check and its re-checks, and 15 s for each fault under way.
 * Where a fault leaves nothing that could do the work instead, also as long as it lasts.
 */
export function computeReportDeadlineMs(
  { fromMs, timing }: TimedOutage,
  faults: readonly AppliedFault[],
  scale: ChaosScale,
): number {
  const { intervalSeconds, timeoutMs, retryCount } = timing
  // one more check is that of another probe
  const checksMs = (retryCount + 2) * timeoutMs + sumRecheckDelaysMs(retryCount)
  const undisturbedMs = fromMs + intervalSeconds * 1_000 + checksMs + MARGIN_MS
  // with each fault the outage may take longer, so that more faults are under way meanwhile
  for (let latestMs = undisturbedMs; ; ) {
    const underWay = faults.filter(fault => fault.fromMs < latestMs && fault.toMs + RECOVERY_MS > fromMs)
    const nextMs = underWay.reduce((sum, fault) => sum + allowanceMs(fault, fromMs, scale), undisturbedMs)
    if (nextMs === latestMs) return latestMs
    latestMs = nextMs
  }
}

function allowanceMs(fault: AppliedFault, sinceMs: number, scale: ChaosScale): number {
  // other tenants must not notice it
  if (fault.kind === 'bad tenant') return 0
  const lastsMs = Math.max(0, fault.toMs - Math.max(fault.fromMs, sinceMs))
  return RECOVERY_MS + (canWorkContinue(fault, scale) ? 0 : lastsMs)
}

/** Whether the work goes on while this lasts: by another control plane of the same roles, or because it takes nothing away. */
function canWorkContinue({ kind, what }: AppliedFault, { controlPlanes }: ChaosScale): boolean {
  if (['clock jump', 'creeping clock', 'silent link'].includes(kind)) return true
  const name = what.split(' to ')[0]!
  const others = Object.keys(controlPlanes).filter(other => other !== name)
  const rolesOfOthers = others.flatMap(other => controlPlanes[other]!.split(','))
  return controlPlanes[name]?.split(',').every(role => rolesOfOthers.includes(role)) ?? false
}

export function checkReportTimes(
  outages: readonly TimedOutage[],
  faults: readonly AppliedFault[],
  scale: ChaosScale,
): CheckOutcome {
  const violations = outages.flatMap(outage => {
    const latestMs = computeReportDeadlineMs(outage, faults, scale)
    const { monitor, fromMs, toMs, reportedAtMs } = outage
    // one that ended before need not be reported
    if ((reportedAtMs ?? toMs ?? Number.POSITIVE_INFINITY) <= latestMs) return []
    const seconds = (ms: number) => `${Math.round((ms - fromMs) / 1_000)} s`
    const found = reportedAtMs === null ? 'never' : `after ${seconds(reportedAtMs)}`
    return `target ${monitor} from ${new Date(fromMs).toISOString()}: ${found}, not within ${seconds(latestMs)}`
  })
  return { statement: 'no outage is reported later than its checks and the faults under way allow', violations }
}
