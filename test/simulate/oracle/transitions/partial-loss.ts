import type { RecordedFault, SettingsPeriod, TargetOutage } from '../chronicle.ts'
import { type FaultIndex, isPartialLoss } from '../faults-under-way.ts'
import { explainsDownMs, isSeenByMost, listSeeing, unnoticedMs, voteMs, witnessMs } from '../limits.ts'

/** Excused causes of a false outage of a monitor with one region, under partial loss. All other false outages are violations. */
const EXCUSED = {
  beginning: 'partial loss, one region, at its beginning',
  noWitness: 'partial loss, one region, no witness',
  newProbe: 'partial loss, one region, probe without a history',
}
const MOST = 'partial loss of most regions'
const UNEXCUSED = 'partial loss, one region'

/** During these faults no witness can be requested, or its answer is not counted in time. */
const STOPS_WITNESSES =
  /^(hints-lost|nats-away|postgres-away|postgres-restored|control-plane-redeployed|verdict-killed|verdict-without-nats)$/
/** After these faults a probe starts without knowledge of its hosts. A redeployment restarts one probe after another. */
const RESTARTS_PROBES = /^(probe-killed|probe-host-dead|region-dead|probes-redeployed)$/
/** How long after a fault work moves and connections are restored. */
const WITNESS_LINGERS_MS = 30_000
const RESTART_LINGERS_MS = 120_000

export const isExcused = (cause: string): boolean => cause === MOST || Object.values(EXCUSED).includes(cause)

/** `isChanged`: the monitor was changed within the last 2 minutes. */
type FalseDown = { settings: SettingsPeriod; atMs: number; isChanged: boolean }

/** Why a monitor was down without an outage because of partial loss; null: partial loss does not explain it. */
export const describeLossCause = (book: FaultIndex, regions: readonly string[], one: FalseDown): string | null =>
  one.settings.regions.length === 1 ? describeSingleRegion(book, regions, one) : describeSeveralRegions(book, one)

function describeSingleRegion(book: FaultIndex, regions: readonly string[], one: FalseDown): string | null {
  const { settings, atMs, isChanged } = one
  const losses = book.between(atMs - explainsDownMs(settings), atMs, settings.regions).filter(isPartialLoss)
  if (losses.length === 0) return null
  if (losses.some(({ fromMs }) => atMs >= fromMs && atMs <= fromMs + unnoticedMs(settings))) return EXCUSED.beginning
  if (!settings.witness || isWithoutWitness(book, regions, one)) return EXCUSED.noWitness
  const recent = book
    .between(atMs - RESTART_LINGERS_MS, atMs, settings.regions)
    .filter(({ kind }) => RESTARTS_PROBES.test(kind))
  const hasRestarted = recent.some(({ toMs, region }) => region === null || toMs <= atMs)
  return isChanged || hasRestarted ? EXCUSED.newProbe : UNEXCUSED
}

/** More than half of the regions lost a part of their routes at the same time. */
function describeSeveralRegions(book: FaultIndex, { settings, atMs }: FalseDown): string | null {
  const sinceMs = atMs - voteMs(settings)
  const losses = book.between(sinceMs, atMs, settings.regions).filter(isPartialLoss)
  const countAt = (ms: number) =>
    new Set(losses.filter(({ fromMs, toMs }) => fromMs <= ms && toMs >= ms).map(({ region }) => region)).size
  const isMost = [sinceMs, ...losses.map(({ fromMs }) => fromMs)].some(ms => countAt(ms) * 2 > settings.regions.length)
  return isMost ? MOST : null
}

/**
 * Whether an outage may make a monitor down: most of its regions see it, or a fault silences regions that do not. `atMs`: when it
 * was down. `heldMs`: how long the transition may have waited. A first verdict needs no more votes than a quorum.
 */
export function mayBeMajority(
  outage: TargetOutage,
  settings: readonly SettingsPeriod[],
  faults: readonly RecordedFault[],
  { atMs, heldMs, isFirst }: { atMs: number; heldMs: number; isFirst: boolean },
): boolean {
  const isInUse = (_: SettingsPeriod, i: number) =>
    settings[i]!.fromMs <= atMs && (settings[i + 1]?.fromMs ?? Infinity) > outage.fromMs
  const known = settings.filter(isInUse)
  if (known.some(one => isSeenByMost(outage, one))) return true
  const isOfQuorum = ({ regions }: SettingsPeriod, seeing: number) => seeing * 2 > Math.floor(regions.length / 2) + 1
  if (isFirst && known.some(one => isOfQuorum(one, listSeeing(outage, one).length))) return true
  if (!known.some(one => listSeeing(outage, one).length > 0)) return false
  return faults.some(({ kind, toMs }) => kind !== 'hints-lost' && toMs >= atMs - heldMs - RESTART_LINGERS_MS)
}

/** Whether possibly no other region had a usable witness when it was requested and answered. */
function isWithoutWitness(book: FaultIndex, regions: readonly string[], { settings, atMs }: FalseDown): boolean {
  const faults = book.all(atMs - witnessMs(settings) - WITNESS_LINGERS_MS, atMs)
  if (faults.some(({ kind }) => STOPS_WITNESSES.test(kind))) return true
  // only one probe of a region is asked, which may be the one with a fault
  const isUnusable = (region: string) => faults.some(fault => fault.region === region)
  return regions.every(region => settings.regions.includes(region) || isUnusable(region))
}
