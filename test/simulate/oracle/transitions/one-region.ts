import type { SettingsPeriod } from '../chronicle.ts'
import { type FaultIndex, isPartialLoss } from '../faults-under-way.ts'
import { unnoticedMs, witnessMs } from '../limits.ts'

/** Excused causes of a false outage of a monitor with one region, under partial loss. All other false outages are violations. */
const EXCUSED = {
  beginning: 'partial loss, one region, at its beginning',
  noWitness: 'partial loss, one region, no witness',
  newProbe: 'partial loss, one region, probe without a history',
}
const UNEXCUSED = 'partial loss, one region'

/** During these faults no witness can be requested, or its answer is not counted in time. */
const STOPS_WITNESSES =
  /^(hints-lost|nats-away|postgres-away|postgres-restored|control-plane-redeployed|verdict-killed|verdict-without-nats)$/
/** After these faults a probe starts without knowledge of its hosts. A redeployment restarts one probe after another. */
const RESTARTS_PROBES = /^(probe-killed|probe-host-dead|region-dead|probes-redeployed)$/
/** How long after a fault work moves and connections are restored. */
const WITNESS_LINGERS_MS = 30_000
const RESTART_LINGERS_MS = 120_000

export const isExcused = (cause: string): boolean => Object.values(EXCUSED).includes(cause)

/** `explainsMs`: how long ago a loss may have ended that explains it. `isChanged`: the monitor was changed within the last 2 minutes. */
type SingleRegionDown = { settings: SettingsPeriod; atMs: number; explainsMs: number; isChanged: boolean }

/** Why a monitor of one region was down under partial loss; null: there was no partial loss. */
export function describeSingleRegionCause(
  faultIndex: FaultIndex,
  regions: readonly string[],
  one: SingleRegionDown,
): string | null {
  const { settings, atMs, explainsMs, isChanged } = one
  const losses = faultIndex.between(atMs - explainsMs, atMs, settings.regions).filter(isPartialLoss)
  if (losses.length === 0) return null
  if (losses.some(({ fromMs }) => atMs >= fromMs && atMs <= fromMs + unnoticedMs(settings))) return EXCUSED.beginning
  if (!settings.witness || isWithoutWitness(faultIndex, regions, one)) return EXCUSED.noWitness
  const recent = faultIndex
    .between(atMs - RESTART_LINGERS_MS, atMs, settings.regions)
    .filter(({ kind }) => RESTARTS_PROBES.test(kind))
  const hasRestarted = recent.some(({ toMs, region }) => region === null || toMs <= atMs)
  return isChanged || hasRestarted ? EXCUSED.newProbe : UNEXCUSED
}

/** Whether possibly no other region had a usable witness when it was requested and answered. */
function isWithoutWitness(
  faultIndex: FaultIndex,
  regions: readonly string[],
  { settings, atMs }: SingleRegionDown,
): boolean {
  const faults = faultIndex.all(atMs - witnessMs(settings) - WITNESS_LINGERS_MS, atMs)
  if (faults.some(({ kind }) => STOPS_WITNESSES.test(kind))) return true
  // only one probe of a region is asked, which may be the one with a fault
  const isUnusable = (region: string) => faults.some(fault => fault.region === region)
  return regions.every(region => settings.regions.includes(region) || isUnusable(region))
}
