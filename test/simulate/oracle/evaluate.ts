import { ALERT_VIOLATIONS, type AlertFigures, evaluateAlerts } from './alerts.ts'
import type {
  Chronicle,
  CommittedTransition,
  HistoryRecord,
  HistoryViolation,
  MonitorHistory,
  RecordedFault,
  SettingsPeriod,
  TargetOutage,
} from './chronicle.ts'
import { createFaultIndex, describeCause, extendLimit, type FaultIndex, isPartialLoss } from './faults-under-way.ts'
import { computeFigures, type Detection, type Figures } from './figures.ts'
import { findHistoryViolations } from './history-findings.ts'
import { DECISION_MS, EXPLAINS_DEGRADED_MS, explainsDownMs, limitInDoubtMs, limitMs, voteMs } from './limits.ts'
import { describeSingleRegionCause, isExcused } from './one-region.ts'
import { findKeptStatuses, isFalseUnchecked } from './unchecked.ts'

/** A violation of the guarantee or a figure to report. It is reproducible with the seed. */
export type Finding = {
  what:
    | 'missed'
    | 'late'
    | 'false down'
    | 'false up'
    | 'false degraded'
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
const VIOLATIONS = [
  'missed',
  'late',
  'false down',
  'false up',
  'reported twice',
  'false unchecked',
  'status kept',
  ...ALERT_VIOLATIONS,
  'not in the history',
  'unknown row',
  'acknowledged early',
] as const
const LONG_MS = 30 * 86_400_000
/** Number of recent answers that decide whether a target counts as slow. */
const ANSWERS_REMEMBERED = 100
/** A transition that was decided before the end of an outage may be committed after it. */
const IN_FLIGHT_MS = 5_000

/** Compares the committed transitions with the events (docs/design/guarantee.md). `probes`: number of probes in a region. */
export function evaluateChronicle(chronicle: Chronicle, probes = 2): SimulationReport {
  const book = createFaultIndex(chronicle)
  const shared = chronicle.outages.filter(({ isShared }) => isShared)
  const findings: Finding[] = []
  const detections: Detection[] = []
  for (const [index, monitor] of chronicle.monitors.entries()) {
    const outages = chronicle.outages.filter(({ monitorId }) => monitorId === monitor.id)
    const transitions = chronicle.transitions.filter(({ monitorId }) => monitorId === monitor.id)
    const { endMs, regions } = chronicle
    const scope = { index, monitor, outages, transitions, book, probes, shared, endMs, regions }
    for (const outage of outages) {
      const detection = detect(scope, outage)
      if (!detection) continue
      detections.push(detection)
      findings.push(...findLateReports(scope, detection))
    }
    for (const [i, transition] of transitions.entries())
      findings.push(...findFalseTransitions(scope, transition, transitions.slice(0, i)))
    for (const { atMs, settings, faults } of findKeptStatuses(monitor, transitions, book, endMs)) {
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

type Scope = {
  index: number
  monitor: MonitorHistory
  outages: TargetOutage[]
  /** outages of many hosts, of all monitors */
  shared: TargetOutage[]
  transitions: CommittedTransition[]
  book: FaultIndex
  probes: number
  endMs: number
  /** all regions of the installation */
  regions: readonly string[]
}

const settingsAt = ({ settings }: MonitorHistory, atMs: number): SettingsPeriod =>
  settings.findLast(({ fromMs }) => fromMs <= atMs) ?? settings[0]!

/** How long before an outage a change of the monitor may still have an effect. */
const CHANGE_LINGERS_MS = 120_000

/** How an outage was reported; null if it does not count: too short, not monitored all the time, or only degraded. */
function detect(
  { monitor, outages, transitions, shared, book, probes, endMs }: Scope,
  outage: TargetOutage,
): Detection | null {
  const { kind, fromMs, toMs } = outage
  const settings = settingsAt(monitor, fromMs)
  const changes = monitor.settings.filter(change => change.fromMs > fromMs - CHANGE_LINGERS_MS && change.fromMs < toMs)
  const isDownAlready = transitions.findLast(({ atMs, to }) => atMs < fromMs && to !== null)?.to === 'down'
  const isWatched = !settings.isPaused && changes.every(({ isPaused }) => !isPaused) && toMs < endMs
  if (kind === 'degraded' || !isWatched || isDownAlready || toMs - fromMs < 1.5 * settings.intervalS * 1000) return null
  const isInDoubt =
    shared.some(other => other.fromMs < toMs && other.toMs > fromMs - CHANGE_LINGERS_MS) ||
    book.between(fromMs - CHANGE_LINGERS_MS, toMs, settings.regions).some(isPartialLoss)
  const rememberedMs = ANSWERS_REMEMBERED * settings.intervalS * 1000
  const wasSlow = outages.some(
    one => one.kind === 'slow' && one.fromMs < fromMs && sumAnsweredMs(outages, one.toMs, fromMs) < rememberedMs,
  )
  const isSlow = monitor.isSlow || wasSlow
  const limitBy = (pace: SettingsPeriod) =>
    isInDoubt ? limitInDoubtMs(kind, pace, isSlow, pace.regions.length) : limitMs(kind, pace, isSlow)
  const baseMs = limitBy(settings)
  const changedMs = changes
    .filter(change => change.fromMs < fromMs + baseMs + CHANGE_LINGERS_MS && change.fromMs > 0)
    .map(change => Math.max(0, change.fromMs - fromMs) + limitBy(change))
  const ownMs = Math.max(baseMs, ...changedMs)
  const { limitMs: allowedMs, faults } = extendLimit(book, fromMs, ownMs, settings, probes)
  const isPlain = faults.length === 0 && changedMs.length === 0
  const down = transitions.find(({ to, atMs }) => to === 'down' && atMs >= fromMs && atMs <= toMs + allowedMs)
  return {
    outage,
    settings,
    isSlow,
    limitMs: allowedMs,
    isPlain,
    faults,
    delayMs: down ? down.atMs - fromMs : null,
    lastedMs: toMs - fromMs,
  }
}

/** How much of a period the target answered. */
function sumAnsweredMs(outages: readonly TargetOutage[], fromMs: number, toMs: number): number {
  const silent = outages.filter(({ kind }) => kind === 'refused' || kind === 'hanging')
  const silentMs = silent.map(one => Math.max(0, Math.min(one.toMs, toMs) - Math.max(one.fromMs, fromMs)))
  return toMs - fromMs - silentMs.reduce((sum, ms) => sum + ms, 0)
}

function findLateReports({ index, monitor }: Scope, detection: Detection): Finding[] {
  const { outage, settings, limitMs, isPlain, faults, delayMs, lastedMs } = detection
  const base = { monitorId: monitor.id, index, atMs: outage.fromMs, regions: settings.regions.length, faults }
  const cause = isPlain ? 'no fault under way' : describeCause(faults)
  const about = `${outage.kind}, timeout ${settings.timeoutMs / 1000} s, ${settings.retryCount} re-checks, lasted ${Math.round(lastedMs / 1000)} s, limit ${Math.round(limitMs / 1000)} s`
  if (delayMs === null) {
    if (lastedMs < limitMs - DECISION_MS) return []
    return [{ ...base, what: 'missed', cause, details: about, isBroken: true }]
  }
  if (delayMs <= limitMs) return []
  return [
    { ...base, what: 'late', cause, details: `${about}, down after ${(delayMs / 1000).toFixed(1)} s`, isBroken: true },
  ]
}

function findFalseTransitions(
  scope: Scope,
  transition: CommittedTransition,
  earlier: readonly CommittedTransition[],
): Finding[] {
  const { monitor, outages, book, index } = scope
  const { atMs, to, from } = transition
  const settings = settingsAt(monitor, atMs)
  const faults = book.between(atMs - explainsDownMs(settings), atMs, settings.regions)
  const regions = settings.regions.length
  const cause = describeCause(faults)
  const about = `${from} to ${to}, timeout ${settings.timeoutMs / 1000} s, ${settings.retryCount} re-checks, quorum ${transition.quorum}`
  const finding = (what: Finding['what'], more: Partial<Finding> = {}): Finding => ({
    ...{ what, monitorId: monitor.id, index, atMs, regions, cause, details: about, faults, isBroken: true },
    ...more,
  })
  if (to === null) return isFalseUnchecked(book, settings, atMs, scope.probes) ? [finding('false unchecked')] : []
  /** Transitions that waited for NATS or PostgreSQL are committed when these are available again. */
  const heldMs = faults.reduce(
    (ms, { kind, fromMs }) => (/away|restored/.test(kind) ? Math.max(ms, atMs - fromMs) : ms),
    0,
  )
  const overlaps = (withinMs: number, degraded: boolean) =>
    outages.some(
      ({ kind, fromMs, toMs }) =>
        (degraded || kind !== 'degraded') && fromMs <= atMs && toMs >= atMs - withinMs - heldMs,
    )
  const found: Finding[] = []
  if (to === 'down' && !overlaps(explainsDownMs(settings), false)) {
    const why = regions === 1 ? describeFalseDown(scope, settings, atMs) : null
    // faults in other regions decide whether a witness could answer
    const all = book.all(atMs - explainsDownMs(settings), atMs)
    found.push(finding('false down', why === null ? {} : { cause: why, isBroken: !isExcused(why), faults: all }))
  }
  if (to === 'degraded' && !overlaps(EXPLAINS_DEGRADED_MS, true))
    found.push(finding('false degraded', { isBroken: false }))
  if (to === 'up') {
    const broken = outages.find(
      ({ kind, fromMs, toMs }) =>
        kind !== 'degraded' && fromMs <= atMs - voteMs(settings) - heldMs && toMs > atMs + IN_FLIGHT_MS,
    )
    // the first verdict of a monitor or of another target does not end an outage
    const isEnd =
      from === 'down' &&
      !monitor.settings.some(
        ({ fromMs, isOtherTarget }) => isOtherTarget && fromMs > (broken?.fromMs ?? 0) && fromMs <= atMs,
      )
    if (broken && isEnd) found.push(finding('false up'))
  }
  const previous = earlier.at(-1)
  const before = earlier.findLast(one => one.to !== null)
  // a status that returns after a period without checks is not notified again
  const isShownAgain = previous?.to === null && from === to
  const wasForgotten = monitor.settings.some(
    ({ fromMs, isPaused }) => isPaused && fromMs > (before?.atMs ?? 0) && fromMs <= atMs,
  )
  if (before?.to === to && !wasForgotten && !isShownAgain) found.push(finding('reported twice'))
  return found
}

function describeFalseDown({ book, monitor, regions }: Scope, settings: SettingsPeriod, atMs: number): string | null {
  const isChanged = monitor.settings.some(({ fromMs }) => fromMs > atMs - CHANGE_LINGERS_MS && fromMs <= atMs)
  return describeSingleRegionCause(book, regions, { settings, atMs, isChanged })
}

function listFailures(findings: readonly Finding[], { checks, endMs }: Chronicle): string[] {
  const broken = (what: Finding['what']) => findings.filter(finding => finding.what === what && finding.isBroken).length
  const failures: string[] = []
  for (const what of VIOLATIONS) {
    if (broken(what) > 0) failures.push(`${what}: ${broken(what)}`)
  }
  // partial loss of a region is rare and affects many monitors: only a long run gives a meaningful share
  const isLong = endMs >= LONG_MS
  const degraded = findings.filter(
    ({ what, cause }) => what === 'false degraded' && (isLong || cause !== 'partial loss'),
  ).length
  if (degraded > checks / FALSE_DEGRADED_ONE_IN) failures.push(`false degraded: ${degraded} in ${checks} checks`)
  return failures
}
