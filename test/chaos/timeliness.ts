import type { VerdictMonitorRow } from '../../control-plane/verdict/reader/counting/policy.ts'
import { sumRecheckDelaysMs } from '../../shared/checks/rechecks.ts'
import type { CheckOutcome } from './checks.ts'
import type { AppliedFault } from './faults.ts'
import type { ChaosScale } from './plan.ts'
import type { ActualOutage } from './targets.ts'

type Timing = Pick<VerdictMonitorRow, 'intervalSeconds' | 'timeoutMs' | 'retryCount'>
/** `reportedAtMs` null: the outage was not reported. Times have the same origin as those of the faults. */
export type TimedOutage = ActualOutage & { timing: Timing; reportedAtMs: number | null }

/** Time for the verdict, for the delivery and for a busy machine. */
const MARGIN_MS = 10_000
/** For each fault: the time until another process takes over, or the same process works again. */
const RECOVERY_MS = 15_000

/**
 * The latest time at which an outage must be reported: the next check with its re-checks, plus 15 s for each fault under way.
 * A fault that leaves no process for the work adds its duration as well.
 */
export function computeReportDeadlineMs(
  { fromMs, timing }: TimedOutage,
  faults: readonly AppliedFault[],
  scale: ChaosScale,
): number {
  const { intervalSeconds, timeoutMs, retryCount } = timing
  // one additional check is made by another probe
  const checksMs = (retryCount + 2) * timeoutMs + sumRecheckDelaysMs(retryCount)
  const undisturbedMs = fromMs + intervalSeconds * 1_000 + checksMs + MARGIN_MS
  // each fault extends the time, in which more faults may be under way
  for (let latestMs = undisturbedMs; ; ) {
    const underWay = faults.filter(fault => fault.fromMs < latestMs && fault.toMs + RECOVERY_MS > fromMs)
    const nextMs = underWay.reduce((sum, fault) => sum + allowanceMs(fault, fromMs, scale), undisturbedMs)
    if (nextMs === latestMs) return latestMs
    latestMs = nextMs
  }
}

function allowanceMs(fault: AppliedFault, sinceMs: number, scale: ChaosScale): number {
  // a bad tenant must not affect other tenants
  if (fault.kind === 'bad tenant') return 0
  const lastsMs = Math.max(0, fault.toMs - Math.max(fault.fromMs, sinceMs))
  return RECOVERY_MS + (canWorkContinue(fault, scale) ? 0 : lastsMs)
}

/** Whether the work continues during the fault: on another control plane with the same roles, or because nothing stops. */
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
    // an outage that ended before the deadline need not be reported
    if ((reportedAtMs ?? toMs ?? Number.POSITIVE_INFINITY) <= latestMs) return []
    const seconds = (ms: number) => `${Math.round((ms - fromMs) / 1_000)} s`
    const found = reportedAtMs === null ? 'never' : `after ${seconds(reportedAtMs)}`
    return `target ${monitor} from ${new Date(fromMs).toISOString()}: reported ${found}, limit ${seconds(latestMs)}`
  })
  return {
    statement: 'every outage is reported within the time that its checks and the faults under way allow',
    violations,
  }
}
