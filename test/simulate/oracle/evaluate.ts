import { ALERT_VIOLATIONS, type AlertFigures, evaluateAlerts } from './alerts.ts'
import type { Chronicle, HistoryRecord, HistoryViolation, RecordedFault } from './chronicle.ts'
import { createFaultIndex, describeCause } from './faults-under-way.ts'
import { computeFigures, type Detection, type Figures } from './figures.ts'
import { findHistoryViolations } from './history-findings.ts'
import { detect, findLateReports, listWatchedParts } from './transitions/detection.ts'
import { findFalseTransitions } from './transitions/false-transitions.ts'
import { findInterruptions } from './transitions/in-outage.ts'
import { findLateRecovery } from './transitions/recovery.ts'
import type { Scope } from './transitions/scope.ts'
import { findKeptStatuses } from './transitions/unchecked.ts'

/** A violation of the guarantee or a figure to report. It is reproducible with the seed. */
export type Finding = {
  what:
    | 'missed'
    | 'late'
    | 'recovered late'
    | 'false down'
    | 'false up'
    | 'interrupted'
    | 'false degraded'
    | 'unexplained'
    | 'reported twice'
    | 'false unchecked'
    | 'status kept'
    | (typeof ALERT_VIOLATIONS)[number]
    | HistoryViolation['what']
  monitorId: string
  index: number
  atMs: number
  regions: number
  cause: string
  details: string
  faults: RecordedFault[]
  /** whether it violates the guarantee */
  isBroken: boolean
}

export type SimulationReport = Figures & {
  seed: number
  days: number
  checks: number
  liveSets: number
  kinds: Record<string, number>
  faults: number
  transitions: number
  /** how often a monitor lost its status because no probe checked it */
  unchecked: number
  alerts: AlertFigures
  /** its violations are in `findings` */
  history: HistoryRecord
  findings: Finding[]
  /** aims that were not met */
  failures: string[]
}

const FALSE_DEGRADED_ONE_IN = 100_000
/** Share of outages whose end may be noticed an interval later, because a single attempt failed. */
const RECOVERED_LATER_ONE_IN = 500
const VIOLATIONS = [
  'missed',
  'late',
  'recovered late',
  'false down',
  'false up',
  'interrupted',
  'unexplained',
  'reported twice',
  'false unchecked',
  'status kept',
  ...ALERT_VIOLATIONS,
  'not in the history',
  'unknown row',
  'acknowledged early',
] as const
const LONG_MS = 30 * 86_400_000

/** Compares the committed transitions with the events (docs/design/guarantee.md). `probes`: number of probes in a region. */
export function evaluateChronicle(chronicle: Chronicle, probes = 2): SimulationReport {
  const faultIndex = createFaultIndex(chronicle)
  const shared = chronicle.outages.filter(({ isShared }) => isShared)
  const findings: Finding[] = []
  const detections: Detection[] = []
  for (const [index, monitor] of chronicle.monitors.entries()) {
    const outages = chronicle.outages.filter(({ monitorId }) => monitorId === monitor.id)
    const transitions = chronicle.transitions.filter(({ monitorId }) => monitorId === monitor.id)
    const { endMs, regions } = chronicle
    const scope: Scope = { index, monitor, outages, transitions, faultIndex, probes, shared, endMs, regions }
    for (const outage of outages) {
      findings.push(...findLateRecovery(scope, outage), ...findInterruptions(scope, outage))
      for (const part of listWatchedParts(monitor, outage)) {
        const detection = detect(scope, part)
        if (!detection) continue
        detections.push(detection)
        findings.push(...findLateReports(scope, detection))
      }
    }
    for (const [i, transition] of transitions.entries())
      findings.push(...findFalseTransitions(scope, transition, transitions.slice(0, i)))
    for (const { atMs, settings, faults } of findKeptStatuses(monitor, transitions, faultIndex, endMs)) {
      const about = { monitorId: monitor.id, index, atMs, regions: settings.regions.length, faults }
      findings.push({
        ...about,
        what: 'status kept',
        cause: describeCause(faults),
        details: 'no probe',
        isBroken: true,
      })
    }
  }
  const alerts = evaluateAlerts(chronicle)
  findings.push(...alerts.findings)
  findings.push(...findHistoryViolations(chronicle))
  const figures = computeFigures(detections, findings)
  return {
    ...figures,
    seed: chronicle.seed,
    days: chronicle.endMs / 86_400_000,
    checks: chronicle.checks,
    liveSets: chronicle.liveSets,
    kinds: chronicle.kinds,
    faults: chronicle.faults.length,
    transitions: chronicle.transitions.length,
    history: { ...chronicle.history, violations: [] },
    unchecked: chronicle.transitions.filter(({ to }) => to === null).length,
    alerts: alerts.figures,
    findings: findings.sort((a, b) => a.atMs - b.atMs),
    failures: listFailures(findings, chronicle),
  }
}

function listFailures(findings: readonly Finding[], { checks, endMs, outages }: Chronicle): string[] {
  const broken = (what: Finding['what']) => findings.filter(finding => finding.what === what && finding.isBroken).length
  const failures: string[] = []
  for (const what of VIOLATIONS) {
    if (broken(what) > 0) failures.push(`${what}: ${broken(what)}`)
  }
  const later = findings.filter(({ what, isBroken }) => what === 'recovered late' && !isBroken).length
  if (later > Math.max(1, outages.length / RECOVERED_LATER_ONE_IN))
    failures.push(`recovered an interval later: ${later} of ${outages.length}`)
  // partial loss of a region is rare and affects many monitors: only a long run gives a meaningful share
  const isLong = endMs >= LONG_MS
  const degraded = findings.filter(
    ({ what, cause }) => what === 'false degraded' && (isLong || cause !== 'partial loss'),
  ).length
  if (degraded > checks / FALSE_DEGRADED_ONE_IN) failures.push(`false degraded: ${degraded} in ${checks} checks`)
  return failures
}
