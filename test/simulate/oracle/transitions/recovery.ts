import type { SettingsPeriod, TargetOutage } from '../chronicle.ts'
import type { Finding } from '../evaluate.ts'
import { type Allowance, describeCause, extendLimit } from '../faults-under-way.ts'
import { degradedAfterDownMs, recoveryMs } from '../limits.ts'
import { CHANGE_LINGERS_MS, type Scope, settingsAt } from './scope.ts'

/** The end of an outage that was not followed by `up` in time (docs/design/guarantee.md#limits). */
export function findLateRecovery(scope: Scope, outage: TargetOutage): Finding[] {
  const { monitor, transitions, index, endMs } = scope
  const { kind, toMs } = outage
  const settings = settingsAt(monitor, toMs)
  const up = allowRecovery(scope, outage, true)
  const notDown = allowRecovery(scope, outage, false)
  const untilMs = toMs + up.limitMs
  if (untilMs > endMs || isPausedWithin(scope, toMs, untilMs) || isBrokenAgain(scope, toMs, untilMs)) return []
  const lastIndex = transitions.findLastIndex(({ atMs }) => atMs <= toMs)
  // a change that was decided before the end of the outage may be committed after it
  const isUpAtEnd = lastIndex < 0 || transitions[lastIndex]!.to === 'up'
  const at = isUpAtEnd ? transitions.findIndex(({ to }, i) => i > lastIndex && to !== 'up') : lastIndex
  const reported = transitions[at]
  if (!reported || reported.atMs > untilMs) return []
  const sinceMs = Math.max(toMs, reported.atMs)
  const next = transitions.slice(at + 1)
  const upMs = next.find(one => one.to === 'up')?.atMs
  const notDownMs = reported.to === 'down' ? next.find(one => one.to !== 'down')?.atMs : sinceMs
  const isUp = upMs !== undefined && upMs <= untilMs
  if (isUp && notDownMs !== undefined && notDownMs <= toMs + notDown.limitMs) return []
  const { limitMs, faults } = isUp ? notDown : up
  const tookMs = isUp ? notDownMs : upMs
  const about = `${kind}, ${reported.to}, timeout ${settings.timeoutMs / 1000} s, ${settings.retryCount} re-checks, limit ${Math.round(limitMs / 1000)} s`
  // one attempt that fails on its own delays the recovery until the next slot
  const isOnce = settings.retryCount > 0 && tookMs !== undefined && tookMs <= toMs + limitMs + settings.intervalS * 1000
  const took = tookMs === undefined ? 'never' : `after ${((tookMs - toMs) / 1000).toFixed(1)} s`
  return [
    {
      ...{ what: 'recovered late', monitorId: monitor.id, index, atMs: toMs, regions: settings.regions.length },
      ...{ cause: isOnce ? 'an interval more' : describeCause(faults), faults, isBroken: !isOnce },
      details: `${about}, ${isUp ? 'no longer down' : 'up'} ${took}`,
    },
  ]
}

/** The limit with the faults and the changes under way. `ofAll`: every region has to recover, otherwise most of them. */
function allowRecovery(
  { monitor, faultIndex, probes }: Scope,
  { kind, toMs }: TargetOutage,
  ofAll: boolean,
): Allowance {
  const settings = settingsAt(monitor, toMs)
  const limitBy = (pace: SettingsPeriod) =>
    recoveryMs(kind, pace, monitor.isSlow) + (ofAll ? 0 : degradedAfterDownMs(pace))
  let ownMs = limitBy(settings)
  const regions = new Set(settings.regions)
  const extend = () =>
    extendLimit(faultIndex, toMs, ownMs, { regions: [...regions], intervalS: settings.intervalS }, probes, ofAll)
  let allowance = extend()
  for (const change of monitor.settings) {
    if (change.fromMs <= toMs - CHANGE_LINGERS_MS || change.fromMs > toMs + allowance.limitMs) continue
    for (const region of change.regions) regions.add(region)
    ownMs = Math.max(ownMs, Math.max(0, change.fromMs - toMs) + limitBy(change))
    allowance = extend()
  }
  return allowance
}

const isPausedWithin = ({ monitor }: Scope, fromMs: number, toMs: number): boolean =>
  settingsAt(monitor, fromMs).isPaused ||
  monitor.settings.some(one => one.isPaused && one.fromMs > fromMs && one.fromMs <= toMs)

const isBrokenAgain = ({ outages }: Scope, fromMs: number, toMs: number): boolean =>
  outages.some(one => one.fromMs >= fromMs && one.fromMs <= toMs)
