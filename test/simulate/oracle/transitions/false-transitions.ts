import type { CommittedTransition, RecordedFault, TargetOutage } from '../chronicle.ts'
import type { Finding } from '../evaluate.ts'
import { describeCause, isPartialLoss } from '../faults-under-way.ts'
import { explainsDegradedMs, explainsDownMs, voteMs } from '../limits.ts'
import { IN_FLIGHT_MS, isDisturbed } from './in-outage.ts'
import { describeSingleRegionCause, isExcused } from './one-region.ts'
import { isSeenByMost, mayMakeDown } from './regions-that-see.ts'
import { CHANGE_LINGERS_MS, type Scope, settingsAt } from './scope.ts'
import { isFalseUnchecked } from './unchecked.ts'

export function findFalseTransitions(
  scope: Scope,
  transition: CommittedTransition,
  earlier: readonly CommittedTransition[],
): Finding[] {
  const { monitor, outages, faultIndex, index } = scope
  const { atMs, to, from } = transition
  const settings = settingsAt(monitor, atMs)
  const explainsMs = explainsDownMs(settings, from)
  const faults = faultIndex.between(atMs - explainsMs, atMs, settings.regions)
  const regions = settings.regions.length
  const cause = describeCause(faults)
  const about = `${from} to ${to}, timeout ${settings.timeoutMs / 1000} s, ${settings.retryCount} re-checks, quorum ${transition.quorum}`
  const finding = (what: Finding['what'], more: Partial<Finding> = {}): Finding => ({
    ...{ what, monitorId: monitor.id, index, atMs, regions, cause, details: about, faults, isBroken: true },
    ...more,
  })
  if (to === null) return isFalseUnchecked(faultIndex, settings, atMs, scope.probes) ? [finding('false unchecked')] : []
  /** Transitions that waited for NATS or PostgreSQL are committed when these are available again. */
  const holding = faults.filter(({ kind }) => /away|restored/.test(kind))
  const heldMs = Math.min(
    holding.reduce((ms, { fromMs, toMs }) => ms + Math.min(toMs, atMs) - fromMs, 0),
    Math.max(0, ...holding.map(({ fromMs }) => atMs - fromMs)),
  )
  const overlapping = (withinMs: number) =>
    outages.filter(({ fromMs, toMs }) => fromMs <= atMs && toMs >= atMs - withinMs - heldMs)
  const mayBeDown = (outage: TargetOutage) =>
    outage.kind !== 'degraded' &&
    mayMakeDown(outage, monitor.settings, faults, { atMs, heldMs, isFirst: from === null })
  const found: Finding[] = []
  if (to === 'down' && !overlapping(explainsMs).some(mayBeDown)) {
    const isChanged = monitor.settings.some(({ fromMs }) => fromMs > atMs - CHANGE_LINGERS_MS && fromMs <= atMs)
    const why =
      regions === 1
        ? describeSingleRegionCause(faultIndex, scope.regions, { settings, atMs, explainsMs, isChanged })
        : null
    // faults in other regions decide whether a witness could answer
    const all = faultIndex.all(atMs - explainsMs, atMs)
    found.push(finding('false down', why === null ? {} : { cause: why, isBroken: !isExcused(why), faults: all }))
  }
  if (to === 'degraded') {
    const isFalse = overlapping(explainsDegradedMs(settings)).length === 0
    const details = `${about}, its sentence names ${transition.named.join(' and ') || 'nothing'}`
    if (isFalse) found.push(finding('false degraded', { details, isBroken: false }))
    if (!isExplained(transition, isFalse ? faults : [])) found.push(finding('unexplained', { details }))
  }
  if (to === 'up') {
    /** Without a fault, nothing explains `up` after `down` was reported. */
    const isSure = (outage: TargetOutage) =>
      earlier.some(one => one.to === 'down' && one.atMs >= outage.fromMs) && !isDisturbed(scope, atMs)
    const broken = outages.find(
      one =>
        one.kind !== 'degraded' &&
        isSeenByMost(one, settings) &&
        one.fromMs <= atMs - (isSure(one) ? 0 : voteMs(settings) + heldMs) &&
        one.toMs > atMs + IN_FLIGHT_MS,
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

/** The sentence has to name a region that disagrees: one that lost a part of its routes, if any did. */
function isExplained({ named }: CommittedTransition, faults: readonly RecordedFault[]): boolean {
  const lossy = faults.filter(isPartialLoss).map(({ region }) => region)
  return named.some(region => lossy.length === 0 || lossy.includes(region))
}
