import type { MonitorHistory, SettingsPeriod, TargetOutage } from '../chronicle.ts'
import type { Finding } from '../evaluate.ts'
import { describeCause, extendLimit, isPartialLoss } from '../faults-under-way.ts'
import { type Detection, isGuaranteed } from '../figures.ts'
import { DECISION_MS, limitInDoubtMs, limitMs } from '../limits.ts'
import { isSeenByMost, listSeeing } from './regions-that-see.ts'
import { CHANGE_LINGERS_MS, type Scope, settingsAt } from './scope.ts'

/** Number of recent answers that decide whether a target counts as slow. */
const ANSWERS_REMEMBERED = 100

/** A part of an outage in which the monitor is not paused. */
type WatchedOutage = TargetOutage & { isEndedByPause: boolean }

/** The parts of an outage in which the monitor is not paused. */
export function listWatchedParts({ settings }: MonitorHistory, outage: TargetOutage): WatchedOutage[] {
  const { fromMs, toMs } = outage
  const parts: WatchedOutage[] = []
  for (const [i, period] of settings.entries()) {
    const before = parts.at(-1)
    if (period.fromMs >= toMs || (settings[i + 1]?.fromMs ?? toMs) <= fromMs) continue
    if (!period.isPaused && !(before && before.toMs === toMs))
      parts.push({ ...outage, fromMs: Math.max(fromMs, period.fromMs), isEndedByPause: false })
    else if (period.isPaused && before?.toMs === toMs && before.fromMs < period.fromMs)
      parts[parts.length - 1] = { ...before, toMs: period.fromMs, isEndedByPause: true }
  }
  return parts
}

/** How a part of an outage was reported; null if it does not count: not over, or only degraded. */
export function detect(
  { monitor, outages, transitions, shared, faultIndex, probes, endMs }: Scope,
  outage: WatchedOutage,
): Detection | null {
  const { kind, fromMs, toMs, isEndedByPause } = outage
  const settings = settingsAt(monitor, fromMs)
  const changes = monitor.settings.filter(
    change => change.fromMs > fromMs - CHANGE_LINGERS_MS && change.fromMs < toMs && !change.isPaused,
  )
  const pausedMs = monitor.settings.findLast(one => one.isPaused && one.fromMs < fromMs)?.fromMs ?? 0
  const before = transitions.findLast(({ atMs, to }) => atMs < fromMs && atMs >= pausedMs && to !== null)
  if (kind === 'degraded' || toMs >= endMs || before?.to === 'down') return null
  // a minority of the regions makes no monitor down
  if (![settings, ...changes].every(one => isSeenByMost(outage, one))) return null
  const isInDoubt =
    shared.some(other => other.fromMs < toMs && other.toMs > fromMs - CHANGE_LINGERS_MS) ||
    faultIndex.between(fromMs - CHANGE_LINGERS_MS, toMs, settings.regions).some(isPartialLoss)
  const rememberedMs = ANSWERS_REMEMBERED * settings.intervalS * 1000
  const wasSlow = outages.some(
    one => one.kind === 'slow' && one.fromMs < fromMs && sumAnsweredMs(outages, one.toMs, fromMs) < rememberedMs,
  )
  const isSlow = monitor.isSlow || wasSlow
  // while a witness sees the target well, nothing is promised
  if (isInDoubt && outage.regions && settings.regions.length === 1 && settings.witness) return null
  const countDeciding = ({ regions }: SettingsPeriod) =>
    listSeeing(outage, { regions }).length < regions.length ? 1 : regions.length
  const limitBy = (pace: SettingsPeriod) =>
    isInDoubt ? limitInDoubtMs(kind, pace, isSlow, countDeciding(pace)) : limitMs(kind, pace, isSlow)
  const baseMs = limitBy(settings)
  const changedMs = changes
    .filter(change => change.fromMs < fromMs + baseMs + CHANGE_LINGERS_MS && change.fromMs > 0)
    .map(change => Math.max(0, change.fromMs - fromMs) + limitBy(change))
  const ownMs = Math.max(baseMs, ...changedMs)
  const { limitMs: allowedMs, faults } = extendLimit(
    faultIndex,
    fromMs,
    ownMs,
    { ...settings, seeing: listSeeing(outage, settings) },
    probes,
  )
  const isPlain = faults.length === 0 && changedMs.length === 0
  const nextMs = Math.min(endMs, ...outages.filter(one => one.fromMs >= toMs).map(one => one.fromMs))
  // a `down` in the next outage is the report of that one
  const lastMs = isEndedByPause ? toMs : Math.min(toMs + allowedMs, nextMs)
  const down = transitions.find(({ to, atMs }) => to === 'down' && atMs >= fromMs && atMs <= lastMs)
  return {
    outage,
    settings,
    isSlow,
    limitMs: allowedMs,
    isPlain,
    faults,
    delayMs: down ? down.atMs - fromMs : null,
    // a pause takes a result that is not yet decided
    lastedMs: toMs - fromMs - (isEndedByPause ? DECISION_MS : 0),
  }
}

/** How much of a period the target answered. */
function sumAnsweredMs(outages: readonly TargetOutage[], fromMs: number, toMs: number): number {
  const silent = outages.filter(({ kind }) => kind === 'refused' || kind === 'hanging')
  const silentMs = silent.map(one => Math.max(0, Math.min(one.toMs, toMs) - Math.max(one.fromMs, fromMs)))
  return toMs - fromMs - silentMs.reduce((sum, ms) => sum + ms, 0)
}

export function findLateReports({ index, monitor }: Scope, detection: Detection): Finding[] {
  const { outage, settings, limitMs, isPlain, faults, delayMs, lastedMs } = detection
  const base = { monitorId: monitor.id, index, atMs: outage.fromMs, regions: settings.regions.length, faults }
  const cause = isPlain ? 'no fault under way' : describeCause(faults)
  const about = `${outage.kind}, timeout ${settings.timeoutMs / 1000} s, ${settings.retryCount} re-checks, lasted ${Math.round(lastedMs / 1000)} s, limit ${Math.round(limitMs / 1000)} s`
  if (delayMs === null) {
    if (!isGuaranteed(detection)) return []
    return [{ ...base, what: 'missed', cause, details: about, isBroken: true }]
  }
  if (delayMs <= limitMs) return []
  return [
    { ...base, what: 'late', cause, details: `${about}, down after ${(delayMs / 1000).toFixed(1)} s`, isBroken: true },
  ]
}
