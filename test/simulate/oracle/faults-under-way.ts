import type { Chronicle, RecordedFault, SettingsPeriod } from './chronicle.ts'

/** The times that a fault adds to the limits (docs/design/guarantee.md). A check that a fault prevented is made in the next slot. */
const nextSlotMs = (intervalS: number) => Math.max(30_000, intervalS * 1_000)
const afterMs = (intervalS: number) => 30_000 + nextSlotMs(intervalS)
/** A probe that takes over does not wait for the next slot for longer. */
const movesMs = (intervalS: number) => Math.min(120_000, nextSlotMs(intervalS))
const TAKES_OVER_MS = 20_000
/** After this time the verdict no longer waits for a region without a probe. */
const ABSENT_MS = 20_000

const GLOBAL_OUTAGE = /^(nats-away|postgres-away|postgres-restored|nats-clock-set|postgres-clock-set)$/
const CONTROL_PLANE = /^(control-plane-redeployed|fleet-killed|verdict-killed|verdict-without-nats)$/
/** The probe keeps its assignments, so its region has no working probe for them. */
const BLIND = /^probe-resolver-gone$/
const PROBE_FAULT = /^(probe-|region-|probes-redeployed$)/
/** The probe does not reach targets that work. */
const FAILS_TARGETS = /(partial-loss|bad-then-dead|targets-gone|resolver-gone)$/
/** A whole region sends no heartbeats or does not publish. */
const WITHOUT_PROBE = /^region-(dead|uplink-lost)$/
/** Hints only request checks of other regions. The guarantee does not depend on them. */
export const HARMLESS = /^hints-lost$/
/** No code that decides reads ClickHouse, so its faults explain no verdict. */
const DECIDES_NOTHING = /^clickhouse-/

export type FaultIndex = {
  /** the faults that overlap a period and concern these regions or all regions */
  between: (fromMs: number, toMs: number, regions: readonly string[]) => RecordedFault[]
  /** the faults of all regions that overlap a period */
  all: (fromMs: number, toMs: number) => RecordedFault[]
}

export function createFaultIndex({ faults }: Chronicle): FaultIndex {
  const sorted = faults.filter(({ kind }) => !DECIDES_NOTHING.test(kind)).sort((a, b) => a.fromMs - b.fromMs)
  return {
    all: (fromMs, toMs) => sorted.filter(fault => fault.fromMs <= toMs && fault.toMs >= fromMs),
    between: (fromMs, toMs, regions) =>
      sorted.filter(
        fault =>
          fault.fromMs <= toMs && fault.toMs >= fromMs && (fault.region === null || regions.includes(fault.region)),
      ),
  }
}

/** How long the effects of a fault last: work moves back, a chain of attempts restarts. */
export const LINGERS_MS = 120_000

type Watched = Pick<SettingsPeriod, 'regions' | 'intervalS'> & { seeing?: readonly string[] }
export type Allowance = { limitMs: number; faults: RecordedFault[] }

/**
 * The limit for the report of an outage with the faults under way: `limitMs` from its beginning. `seeing`: the regions that see the
 * outage, if not all. `probes`: number of probes in a region. `ofAll`: the report needs every region, and not only most of them.
 */
export function extendLimit(
  faultIndex: FaultIndex,
  fromMs: number,
  baseMs: number,
  settings: Watched,
  probes: number,
  ofAll = false,
): Allowance {
  let limitMs = baseMs
  let faults: RecordedFault[] = []
  // a longer limit can include more faults
  for (let round = 0; round < 10; round++) {
    const untilMs = fromMs + limitMs
    const found = faultIndex
      .between(fromMs - LINGERS_MS, untilMs, settings.regions)
      .filter(({ kind }) => !HARMLESS.test(kind))
    if (found.length === faults.length) break
    faults = found
    limitMs = baseMs + addedMs(faults, fromMs, baseMs, { ...settings, probes, ofAll })
  }
  return { limitMs, faults }
}

function addedMs(
  faults: readonly RecordedFault[],
  fromMs: number,
  baseMs: number,
  { regions, intervalS, seeing = regions, probes, ofAll }: Watched & { probes: number; ofAll: boolean },
) {
  const gone = seeing.map(region => findAbsenceEndMs(faults, region, probes))
  const isDecidedByOthers = gone.filter(ms => ms === null).length * 2 > regions.length
  /** The absence of its region adds what the fault adds. */
  const isPartOfAbsence = ({ region, kind }: RecordedFault) =>
    !isDecidedByOthers && PROBE_FAULT.test(kind) && region !== null && (gone[seeing.indexOf(region)] ?? null) !== null
  let addedMs = 0
  let outageEndMs = fromMs
  for (const fault of faults) {
    const { kind, toMs } = fault
    if (GLOBAL_OUTAGE.test(kind) || (ofAll && FAILS_TARGETS.test(kind)))
      outageEndMs = Math.max(outageEndMs, toMs + afterMs(intervalS))
    else if (!isPartOfAbsence(fault)) addedMs += CONTROL_PLANE.test(kind) ? TAKES_OVER_MS : movesMs(intervalS)
  }
  if (isDecidedByOthers && !ofAll) return addedMs + outageEndMs - fromMs
  // where other regions see the target well, those that see the outage are needed
  const isOneLeft = gone.includes(null) && seeing.length === regions.length
  for (const [i, ms] of gone.entries()) {
    if (ms === null) continue
    // the remaining regions decide, unless the absent region returns first
    if (isOneLeft && isAbsent(faults, seeing[i]!, fromMs + baseMs + ABSENT_MS)) addedMs += ABSENT_MS
    else outageEndMs = Math.max(outageEndMs, ms + afterMs(intervalS))
  }
  return addedMs + outageEndMs - fromMs
}

/** Whether the region has no probe until then, and no other fault. */
function isAbsent(faults: readonly RecordedFault[], region: string, untilMs: number): boolean {
  const here = faults.filter(fault => fault.region === region)
  return here.length > 0 && here.every(({ kind, toMs }) => WITHOUT_PROBE.test(kind) && toMs >= untilMs)
}

/** Whether the region has no probe during the fault. */
export const isAbsence = ({ kind }: RecordedFault): boolean => WITHOUT_PROBE.test(kind)

/** Whether possibly none of the regions had a working probe. */
export const areAllBlind = (faults: readonly RecordedFault[], regions: readonly string[], probes: number): boolean =>
  regions.every(region => findAbsenceEndMs(faults, region, probes) !== null)

/** Until when possibly no probe of a region works; null: one works all the time. */
function findAbsenceEndMs(faults: readonly RecordedFault[], region: string, probes: number): number | null {
  const here = faults.filter(({ kind, region: at }) => at === region && PROBE_FAULT.test(kind))
  const whole = here.filter(({ kind }) => kind.startsWith('region-') || BLIND.test(kind))
  const single = here.filter(({ kind }) => kind.startsWith('probe-'))
  const untilMs = (some: readonly RecordedFault[]) => Math.max(...some.map(({ toMs }) => toMs))
  // a fault has effects after its end
  const areBroken = single.some(({ fromMs }) => {
    const now = single.filter(one => one.fromMs <= fromMs && one.toMs + LINGERS_MS >= fromMs)
    return new Set(now.map(({ place }) => place)).size >= probes
  })
  if (areBroken) return untilMs(here)
  return whole.length > 0 ? untilMs(whole) : null
}

/** Whether a part of the routes to targets is lost. */
export const isPartialLoss = ({ kind }: RecordedFault): boolean => /partial-loss|bad-then-dead/.test(kind)

/** The cause of a wrong verdict, according to the faults under way. */
export function describeCause(faults: readonly RecordedFault[]): string {
  const kinds = [...new Set(faults.map(({ kind }) => kind))].sort()
  // a probe detects a complete loss itself, so only partial loss remains as the cause
  if (faults.some(isPartialLoss)) return 'partial loss'
  return kinds.length > 0 ? kinds.join(' + ') : 'no fault under way'
}
