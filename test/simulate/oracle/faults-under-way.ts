import type { Chronicle, RecordedFault, SettingsPeriod } from './chronicle.ts'

/** What a fault adds to the limits, by docs/design/guarantee.md. */
const MOVES_MS = 30_000
const TAKES_OVER_MS = 20_000
const AFTER_MS = 60_000
/** A region without a probe is not waited for any more. */
const ABSENT_MS = 20_000

const GLOBAL_AWAY = /^(nats-away|postgres-away|postgres-restored|nats-clock-set|postgres-clock-set)$/
const CONTROL_PLANE = /^(control-plane-redeployed|fleet-killed|verdict-killed|verdict-without-nats)$/
/** The work stays with the probe, so its region has none that works. */
const BLIND = /^probe-resolver-gone$/
const OF_PROBES = /^(probe-|region-|probes-redeployed$)/
/** A whole region sends no heartbeats, or does not publish. */
const WITHOUT_PROBE = /^region-(dead|uplink-lost)$/
/** Another region is asked by hints; no promise depends on them. */
const HARMLESS = /^hints-lost$/

export type FaultIndex = {
  /** the faults that overlap a time and concern these regions, or everything */
  between: (fromMs: number, toMs: number, regions: readonly string[]) => RecordedFault[]
  /** of all regions */
  all: (fromMs: number, toMs: number) => RecordedFault[]
}

export function createFaultIndex({ faults }: Chronicle): FaultIndex {
  const sorted = faults.toSorted((a, b) => a.fromMs - b.fromMs)
  return {
    all: (fromMs, toMs) => sorted.filter(fault => fault.fromMs <= toMs && fault.toMs >= fromMs),
    between: (fromMs, toMs, regions) =>
      sorted.filter(
        fault =>
          fault.fromMs <= toMs && fault.toMs >= fromMs && (fault.region === null || regions.includes(fault.region)),
      ),
  }
}

/** Effects last for a while after a fault: work moves back, a chain begins again. */
const LINGERS_MS = 120_000

export type Allowance = { limitMs: number; faults: RecordedFault[] }

/**
 * By when an outage has to be reported in spite of the faults under way: `limitMs` from its beginning. `probes`: how many a
 * region has.
 */
export function extendLimit(
  book: FaultIndex,
  fromMs: number,
  baseMs: number,
  { regions }: Pick<SettingsPeriod, 'regions'>,
  probes: number,
): Allowance {
  let limitMs = baseMs
  let faults: RecordedFault[] = []
  // a longer limit can let in another fault
  for (let round = 0; round < 10; round++) {
    const untilMs = fromMs + limitMs
    const found = book.between(fromMs - LINGERS_MS, untilMs, regions).filter(({ kind }) => !HARMLESS.test(kind))
    if (found.length === faults.length) break
    faults = found
    limitMs = baseMs + addedMs(faults, fromMs, baseMs, regions, probes)
  }
  return { limitMs, faults }
}

function addedMs(
  faults: readonly RecordedFault[],
  fromMs: number,
  baseMs: number,
  regions: readonly string[],
  probes: number,
) {
  let addedMs = 0
  let awayUntilMs = fromMs
  for (const { kind, toMs } of faults) {
    if (GLOBAL_AWAY.test(kind)) awayUntilMs = Math.max(awayUntilMs, toMs + AFTER_MS)
    else addedMs += CONTROL_PLANE.test(kind) ? TAKES_OVER_MS : MOVES_MS
  }
  const gone = regions.map(region => findAbsenceEndMs(faults, region, probes))
  const isDecidedByOthers = gone.filter(ms => ms === null).length * 2 > regions.length
  if (isDecidedByOthers) return addedMs + awayUntilMs - fromMs
  const isOneLeft = gone.includes(null)
  for (const [i, ms] of gone.entries()) {
    if (ms === null) continue
    // those that are left decide, unless the region is back before
    if (isOneLeft && isAbsent(faults, regions[i]!, fromMs + baseMs + ABSENT_MS)) addedMs += ABSENT_MS
    else awayUntilMs = Math.max(awayUntilMs, ms + AFTER_MS)
  }
  return addedMs + awayUntilMs - fromMs
}

/** The region has no probe at all until then, and for no other reason. */
function isAbsent(faults: readonly RecordedFault[], region: string, untilMs: number): boolean {
  const here = faults.filter(fault => fault.region === region)
  return here.length > 0 && here.every(({ kind, toMs }) => WITHOUT_PROBE.test(kind) && toMs >= untilMs)
}

/** The region has no probe while it lasts. */
export const isAbsence = ({ kind }: RecordedFault): boolean => WITHOUT_PROBE.test(kind)

/** Whether each of the regions may have had no probe that works. */
export const areAllBlind = (faults: readonly RecordedFault[], regions: readonly string[], probes: number): boolean =>
  regions.every(region => findAbsenceEndMs(faults, region, probes) !== null)

/** Until when no probe of a region may work; null: one works all the time. */
function findAbsenceEndMs(faults: readonly RecordedFault[], region: string, probes: number): number | null {
  const here = faults.filter(({ kind, region: at }) => at === region && OF_PROBES.test(kind))
  const whole = here.filter(({ kind }) => kind.startsWith('region-') || BLIND.test(kind))
  const broken = new Set(here.filter(({ kind }) => kind.startsWith('probe-')).map(({ place }) => place))
  const untilMs = (some: readonly RecordedFault[]) => Math.max(...some.map(({ toMs }) => toMs))
  if (broken.size >= probes) return untilMs(here)
  return whole.length > 0 ? untilMs(whole) : null
}

/** A part of the ways to targets is lost. */
export const isPartialLoss = ({ kind }: RecordedFault): boolean => /partial-loss|bad-then-dead/.test(kind)

/** What a wrong verdict comes from, as far as the faults under way say it. */
export function describeCause(faults: readonly RecordedFault[]): string {
  const kinds = [...new Set(faults.map(({ kind }) => kind))].sort()
  // a probe recognizes by itself that it has lost everything
  if (faults.some(isPartialLoss)) return 'partial loss'
  return kinds.length > 0 ? kinds.join(' + ') : 'no fault under way'
}
