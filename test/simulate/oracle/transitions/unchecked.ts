import type { CommittedTransition, MonitorHistory, RecordedFault, SettingsPeriod } from '../chronicle.ts'
import { areAllBlind, type FaultIndex, isAbsence } from '../faults-under-way.ts'
import { UNCHECKED_WITHIN_MS, voteMs } from '../limits.ts'

/** How long after a fault work moves and chains of attempts restart. */
const LINGERS_MS = 120_000

/** Whether a monitor lost its status although a working probe checked it. */
export function isFalseUnchecked(
  faultIndex: FaultIndex,
  settings: SettingsPeriod,
  atMs: number,
  probes: number,
): boolean {
  const faults = faultIndex.between(atMs - voteMs(settings) - LINGERS_MS, atMs, settings.regions)
  return !areAllBlind(faults, settings.regions, probes)
}

/** The faults, each the last one of a monitor's regions, during which it kept its status although it had to lose it. */
export function findKeptStatuses(
  { settings }: Pick<MonitorHistory, 'settings'>,
  transitions: readonly CommittedTransition[],
  faultIndex: FaultIndex,
  endMs: number,
): { atMs: number; settings: SettingsPeriod; faults: RecordedFault[] }[] {
  return faultIndex.all(0, endMs).flatMap(fault => {
    const { fromMs, toMs, region } = fault
    const now = settings.findLast(one => one.fromMs <= fromMs) ?? settings[0]!
    const untilMs = fromMs + voteMs(now) + UNCHECKED_WITHIN_MS
    if (!isAbsence(fault) || now.isPaused || region === null || !now.regions.includes(region)) return []
    const absences = faultIndex
      .between(fromMs, fromMs, now.regions)
      .filter(one => isAbsence(one) && one.toMs >= untilMs)
    if (now.regions.some(one => !absences.some(absence => absence.region === one))) return []
    if (untilMs > Math.min(toMs, endMs)) return []
    const isChanged = settings.some(one => one.fromMs > fromMs - LINGERS_MS && one.fromMs <= untilMs)
    const others = faultIndex.all(fromMs - LINGERS_MS, untilMs).filter(other => !absences.includes(other))
    const isDisturbed = others.some(other => other.region === null || now.regions.includes(other.region))
    const isWithout = (transitions.findLast(({ atMs }) => atMs <= fromMs)?.to ?? null) === null
    const isTaken = transitions.some(({ to, atMs }) => to === null && atMs > fromMs && atMs <= untilMs)
    return isChanged || isDisturbed || isWithout || isTaken ? [] : [{ atMs: fromMs, settings: now, faults: absences }]
  })
}
