import type { SettingsPeriod } from './chronicle.ts'
import { type FaultIndex, isPartialLoss } from './faults-under-way.ts'
import { explainsDownMs, unnoticedMs, witnessMs } from './limits.ts'

/** What a monitor of one region may take for an outage, under partial loss; any other false outage breaks the promise. */
const EXCUSED = {
  beginning: 'partial loss, one region, at its beginning',
  noWitness: 'partial loss, one region, no witness',
  newProbe: 'partial loss, one region, probe without a past',
}
const UNEXCUSED = 'partial loss, one region'

/** While one of these is under way, no region can be asked for a witness, or its answer is not counted in time. */
const STOPS_WITNESSES =
  /^(hints-lost|nats-away|postgres-away|postgres-restored|control-plane-redeployed|verdict-killed|verdict-without-nats)$/
/** When it is over, a probe begins again, and knows nothing of its hosts; a redeployment ends one probe after another. */
const BEGINS_AGAIN = /^(probe-killed|probe-host-dead|region-dead|probes-redeployed)$/
/** Work moves, and links come back, so long after a fault. */
const WITNESS_LINGERS_MS = 30_000
const BEGUN_MS = 120_000

export const isExcused = (cause: string): boolean => Object.values(EXCUSED).includes(cause)

/** `isChanged`: the monitor was changed within the last 2 minutes. */
export type SingleRegionDown = { settings: SettingsPeriod; atMs: number; isChanged: boolean }

/** Why a monitor of one region was down under partial loss; null: there was none. */
export function describeSingleRegionCause(
  book: FaultIndex,
  regions: readonly string[],
  one: SingleRegionDown,
): string | null {
  const { settings, atMs, isChanged } = one
  const losses = book.between(atMs - explainsDownMs(settings), atMs, settings.regions).filter(isPartialLoss)
  if (losses.length === 0) return null
  if (losses.some(({ fromMs }) => atMs >= fromMs && atMs <= fromMs + unnoticedMs(settings))) return EXCUSED.beginning
  if (!settings.witness || isWithoutWitness(book, regions, one)) return EXCUSED.noWitness
  const recent = book.between(atMs - BEGUN_MS, atMs, settings.regions).filter(({ kind }) => BEGINS_AGAIN.test(kind))
  const hasBegun = recent.some(({ toMs, region }) => region === null || toMs <= atMs)
  return isChanged || hasBegun ? EXCUSED.newProbe : UNEXCUSED
}

/** Whether no other region may have had a usable witness, in the time in which it was asked and answered. */
function isWithoutWitness(book: FaultIndex, regions: readonly string[], { settings, atMs }: SingleRegionDown): boolean {
  const faults = book.all(atMs - witnessMs(settings) - WITNESS_LINGERS_MS, atMs)
  if (faults.some(({ kind }) => STOPS_WITNESSES.test(kind))) return true
  // of the probes of a region one is asked, so it may be the one with a fault
  const isUnusable = (region: string) => faults.some(fault => fault.region === region)
  return regions.every(region => settings.regions.includes(region) || isUnusable(region))
}
