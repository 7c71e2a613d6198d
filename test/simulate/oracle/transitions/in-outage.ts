import type { CommittedTransition, TargetOutage } from '../chronicle.ts'
import type { Finding } from '../evaluate.ts'
import { describeCause, HARMLESS, LINGERS_MS } from '../faults-under-way.ts'
import { isSeenByMost } from './regions-that-see.ts'
import { CHANGE_LINGERS_MS, type Scope, settingsAt } from './scope.ts'

/** A transition that was decided before the end of an outage may be committed after it. */
export const IN_FLIGHT_MS = 5_000

/**
 * Transitions while a target fails that no fault explains: `degraded`, which is right where only some regions see the outage, and a
 * second `down`.
 */
export function findInterruptions(scope: Scope, outage: TargetOutage): Finding[] {
  const { monitor, index } = scope
  const { fromMs, toMs, kind, regions: seeing } = outage
  if (kind === 'degraded' || !isSeenByMost(outage, settingsAt(monitor, fromMs))) return []
  const during = scope.transitions.filter(({ atMs }) => atMs >= fromMs && atMs < toMs - IN_FLIGHT_MS)
  const found: Finding[] = []
  let wasDown = false
  for (const [i, { atMs, from, to }] of during.entries()) {
    const what = describeInterruption(during, i, wasDown)
    wasDown ||= to === 'down'
    const leftMs = what === 'reported twice' ? during[i - 1]!.atMs : atMs
    // before `down`, a region whose hint was lost may answer so late that it is not waited for
    const isExplained = (ms: number) => isDisturbed(scope, ms, from === 'up')
    if (what === null || (what === 'interrupted' && seeing) || isExplained(atMs) || isExplained(leftMs)) continue
    const { regions } = settingsAt(monitor, atMs)
    const details = `${from} to ${to}, ${((atMs - fromMs) / 1000).toFixed(1)} s after the beginning of an outage, ${kind}`
    const about = { monitorId: monitor.id, index, atMs, regions: regions.length, faults: [], details }
    found.push({ ...about, what, cause: describeCause([]), isBroken: true })
  }
  return found
}

function describeInterruption(
  during: readonly CommittedTransition[],
  i: number,
  wasDown: boolean,
): 'interrupted' | 'reported twice' | null {
  const { from, to } = during[i]!
  if (to === 'degraded' && (from === 'down' || during[i + 1]?.to === 'down')) return 'interrupted'
  // a status that is shown again after `null` is not reported again
  const before = during[i - 1]?.to
  return to === 'down' && wasDown && (before === 'up' || before === 'degraded') ? 'reported twice' : null
}

/** Whether a fault or a change of the monitor may explain a transition. */
export const isDisturbed = ({ faultIndex, monitor }: Scope, atMs: number, byLostHints = false): boolean =>
  faultIndex
    .between(atMs - LINGERS_MS, atMs, settingsAt(monitor, atMs).regions)
    .some(({ kind }) => byLostHints || !HARMLESS.test(kind)) ||
  monitor.settings.some(({ fromMs }) => fromMs > 0 && fromMs > atMs - CHANGE_LINGERS_MS && fromMs <= atMs)
