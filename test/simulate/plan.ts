import { type Random, seededRandom } from '../chaos/random.ts'
import { isClickhouseFault, planClickhouseFaults } from './clickhouse-plan.ts'
import type { SimulatedInstallation } from './installation.ts'

/** How a target fails. `degraded`: its answer fails an assertion that only degrades. */
export type OutageKind = 'refused' | 'wrong' | 'slow' | 'hanging' | 'degraded'
export const OUTAGE_KINDS: OutageKind[] = ['refused', 'wrong', 'slow', 'hanging']

/**
 * A period in which the target of a monitor is broken. Times in ms since the beginning. `regions`: those from which it is broken;
 * missing: all.
 */
export type SimulatedOutage = {
  index: number
  kind: OutageKind
  fromMs: number
  toMs: number
  isShared: boolean
  regions?: readonly string[]
}

/** An outage of many hosts, for example of a data centre: those of one group of monitors, and others. */
type SharedOutage = { group: number; kind: OutageKind; fromMs: number; toMs: number; regions?: readonly string[] }

/** A change of a monitor by a customer. `regions`: one is replaced. */
export type MonitorEdit = {
  index: number
  atMs: number
  what: 'header' | 'target' | 'retries' | 'timeout' | 'regions' | 'interval' | 'region-added' | 'region-removed'
}
/** An immediate check that a user requests. */
type RequestedCheck = { index: number; atMs: number }
type MonitorPause = { index: number; fromMs: number; toMs: number }

export const SIMULATED_FAULT_KINDS = [
  'probe-killed',
  'probe-host-dead',
  'probe-frozen',
  'probe-fleet-cut',
  'probe-nats-cut',
  'probe-uplink-lost',
  'probe-targets-gone',
  'probe-partial-loss',
  'probe-resolver-gone',
  'region-uplink-lost',
  'region-partial-loss',
  'region-dead',
  'region-bad-then-dead',
  'control-plane-redeployed',
  'probes-redeployed',
  'fleet-killed',
  'verdict-killed',
  'verdict-without-nats',
  'nats-away',
  'nats-clock-set',
  'postgres-away',
  'postgres-restored',
  'postgres-clock-set',
  'hints-lost',
  'acks-lost',
  'clickhouse-away',
  'clickhouse-answers-lost',
] as const
export type SimulatedFaultKind = (typeof SIMULATED_FAULT_KINDS)[number]

/** `place`: a probe, a region or a process; empty: everything. `size`: a share, or ms by which a clock is set. */
export type SimulatedFault = { kind: SimulatedFaultKind; fromMs: number; toMs: number; place: string; size: number }

export type SimulationPlan = {
  outages: SimulatedOutage[]
  shared: SharedOutage[]
  edits: MonitorEdit[]
  pauses: MonitorPause[]
  asks: RequestedCheck[]
  faults: SimulatedFault[]
}

const DAY_MS = 86_400_000
const [S, MIN, HOUR] = [1_000, 60_000, 3_600_000]
const YEAR_DAYS = 365
/** No fault begins before all processes have started. */
export const QUIET_MS = 10 * MIN

/** How often each fault occurs in a year, and its duration. Kinds of probes and regions occur at each of them. */
const RATES: Record<SimulatedFaultKind, { aYear: number; minMs: number; maxMs: number }> = {
  'probe-killed': { aYear: 6, minMs: 2 * S, maxMs: 30 * S },
  'probe-host-dead': { aYear: 2, minMs: MIN, maxMs: 2 * HOUR },
  'probe-frozen': { aYear: 6, minMs: 3 * S, maxMs: 5 * MIN },
  'probe-fleet-cut': { aYear: 12, minMs: 3 * S, maxMs: 10 * MIN },
  'probe-nats-cut': { aYear: 10, minMs: 3 * S, maxMs: 10 * MIN },
  'probe-uplink-lost': { aYear: 3, minMs: 5 * S, maxMs: 15 * MIN },
  'probe-targets-gone': { aYear: 2, minMs: 5 * S, maxMs: 15 * MIN },
  'probe-partial-loss': { aYear: 3, minMs: 20 * S, maxMs: 15 * MIN },
  'probe-resolver-gone': { aYear: 1, minMs: 20 * S, maxMs: 15 * MIN },
  'region-uplink-lost': { aYear: 1.5, minMs: 10 * S, maxMs: 15 * MIN },
  'region-partial-loss': { aYear: 1.5, minMs: 20 * S, maxMs: 15 * MIN },
  'region-dead': { aYear: 1, minMs: MIN, maxMs: 30 * MIN },
  'region-bad-then-dead': { aYear: 0.5, minMs: 2 * MIN, maxMs: 30 * MIN },
  'control-plane-redeployed': { aYear: 50, minMs: 40 * S, maxMs: 40 * S },
  'probes-redeployed': { aYear: 12, minMs: 5 * MIN, maxMs: 5 * MIN },
  'fleet-killed': { aYear: 6, minMs: 2 * S, maxMs: MIN },
  'verdict-killed': { aYear: 12, minMs: 10 * S, maxMs: 10 * S },
  'verdict-without-nats': { aYear: 6, minMs: 10 * S, maxMs: 10 * S },
  'nats-away': { aYear: 14, minMs: S, maxMs: 15 * MIN },
  'nats-clock-set': { aYear: 1.5, minMs: S, maxMs: S },
  'postgres-away': { aYear: 4, minMs: 2 * S, maxMs: 5 * MIN },
  'postgres-restored': { aYear: 1, minMs: 5 * S, maxMs: 30 * S },
  'postgres-clock-set': { aYear: 1.5, minMs: S, maxMs: S },
  'hints-lost': { aYear: 12, minMs: MIN, maxMs: HOUR },
  'acks-lost': { aYear: 12, minMs: MIN, maxMs: HOUR },
  'clickhouse-away': { aYear: 12, minMs: 2 * S, maxMs: 15 * MIN },
  'clickhouse-answers-lost': { aYear: 12, minMs: 2 * S, maxMs: 10 * MIN },
}

const OUTAGES_A_YEAR = 70
const SHARED_A_YEAR = 12
/** Monitors with the same remainder fail together. */
const GROUPS = 5
const APART_MS = 20 * MIN
/** Share of the outages that only some regions see, for example because a route is lost. */
const REGIONAL_SHARE = 0.2
const REGIONAL_SHARED_SHARE = 0.4
const EDITS_A_YEAR = 24
const PACE_EDITS_A_YEAR = 12
const PAUSES_A_YEAR = 4
const ASKS_A_YEAR = 50

export type SimulationPlanOptions = {
  seed: number
  days: number
  /** multiplies the usual rate of faults */
  factor: number
  /** the only kinds of faults to apply; empty: all kinds */
  only: readonly SimulatedFaultKind[]
  /** targets fail within a minute after a part of Picket, as in the same data centre */
  correlate: boolean
}

/** Plans the events of a run. Deterministic: the same seed gives the same plan. */
export function createSimulationPlan(
  installation: SimulatedInstallation,
  { seed, days, factor, only, correlate }: SimulationPlanOptions,
): SimulationPlan {
  const random = seededRandom(seed)
  const endMs = days * DAY_MS
  const share = (days / YEAR_DAYS) * factor
  /** The expected number of events in the run; the fraction is decided at random. */
  const count = (aYear: number) => Math.floor(aYear * share) + (random.chance((aYear * share) % 1) ? 1 : 0)
  const moment = () => random.between(QUIET_MS, Math.max(QUIET_MS, endMs - HOUR))
  const times = <T>(amount: number, make: () => T): T[] => Array.from({ length: amount }, make)

  const edits = installation.monitors.flatMap(({ index }) =>
    times(count(EDITS_A_YEAR), (): MonitorEdit => {
      const what = random.pick(['header', 'header', 'header', 'target', 'retries', 'timeout', 'regions'] as const)
      return { index, atMs: moment(), what }
    }),
  )
  const pauses = installation.monitors.flatMap(({ index }) =>
    times(count(PAUSES_A_YEAR), (): MonitorPause => {
      const fromMs = moment()
      return { index, fromMs, toMs: fromMs + spread(random, MIN, 6 * HOUR) }
    }),
  )
  const asks = installation.monitors.flatMap(({ index }) =>
    times(count(ASKS_A_YEAR), () => ({ index, atMs: moment() })),
  )
  const kinds = SIMULATED_FAULT_KINDS.filter(kind => only.length === 0 || only.includes(kind))
  const faults = kinds
    .filter(kind => !isClickhouseFault(kind))
    .flatMap(kind =>
      listPlaces(installation, kind).flatMap(place =>
        times(count(RATES[kind].aYear), () => planFault(random, kind, place, moment())),
      ),
    )
  faults.sort((a, b) => a.fromMs - b.fromMs)
  const afterFault = () => (faults.length > 0 ? random.pick(faults).fromMs + random.between(0, MIN) : moment())
  const alone = installation.monitors.flatMap(({ index }) =>
    planOutages(random, index, count(OUTAGES_A_YEAR), correlate ? afterFault : moment),
  )
  const shared = regionalShared(
    seededRandom(seed ^ 0x5a4ed),
    installation,
    sharedOutages(random, times(count(SHARED_A_YEAR), moment)),
  )
  const together = shared.flatMap(({ group, ...outage }) =>
    installation.monitors
      .filter(({ index }) => index % GROUPS === group)
      .map(({ index }) => ({ ...outage, index, isShared: true })),
  )
  const separate = alone.filter(one => !together.some(other => isNear(one, other)))
  const outages = [...regional(seededRandom(seed ^ 0x4e610), installation, separate), ...together]
  const clickhouse = planClickhouseFaults(seededRandom(seed ^ 0xc11c), faults, {
    ...{ kinds: kinds.filter(isClickhouseFault), rates: RATES, share, spread },
    ...{ firstMs: QUIET_MS, lastMs: Math.max(QUIET_MS, endMs - HOUR) },
  })
  const paceRandom = seededRandom(seed ^ 0xed175)
  const paceEdits = installation.monitors.flatMap(({ index }) =>
    times(Math.round(PACE_EDITS_A_YEAR * share), () => paceEdit(paceRandom, index, endMs, outages)),
  )
  return { outages, shared, edits: [...edits, ...paceEdits], pauses, asks, faults: [...faults, ...clickhouse] }
}

/** A change of how often, or from how many regions, a monitor is checked. Half of them are made while the target begins to fail. */
function paceEdit(random: Random, index: number, endMs: number, outages: readonly SimulatedOutage[]): MonitorEdit {
  const what = random.pick(['interval', 'interval', 'region-added', 'region-removed'] as const)
  const own = outages.filter(one => one.index === index)
  const isInChain = random.chance(0.5) && own.length > 0
  const atMs = isInChain ? random.pick(own).fromMs + random.between(0, MIN) : random.between(QUIET_MS, endMs - HOUR)
  return { index, atMs, what }
}

/** A duration with log-uniform distribution: 5 s to 15 s is as likely as 20 to 60 minutes. */
export function spread(random: Random, minMs: number, maxMs: number): number {
  const exponent = random.between(0, 1_000_000) / 1_000_000
  return Math.round(minMs * (maxMs / minMs) ** exponent)
}

/** Outages that do not overlap, with time for recovery between them. */
function planOutages(random: Random, index: number, amount: number, moment: () => number): SimulatedOutage[] {
  const outages: SimulatedOutage[] = []
  for (const fromMs of Array.from({ length: amount }, moment).sort((a, b) => a - b)) {
    const before = outages.at(-1)
    if (before && fromMs < before.toMs + APART_MS) continue
    const kind = random.chance(0.08) ? 'degraded' : random.pick(OUTAGE_KINDS)
    outages.push({ index, kind, fromMs, toMs: fromMs + spread(random, 5 * S, 2 * HOUR), isShared: false })
  }
  return outages
}

export const isNear = (one: SimulatedOutage, other: SimulatedOutage) =>
  one.index === other.index && one.fromMs < other.toMs + APART_MS && other.fromMs < one.toMs + APART_MS

/** Outages that do not overlap. Targets that answer are never in doubt, so these hang or refuse connections. */
function sharedOutages(random: Random, moments: number[]): SharedOutage[] {
  const shared: SharedOutage[] = []
  for (const fromMs of moments.sort((a, b) => a - b)) {
    if (fromMs < (shared.at(-1)?.toMs ?? 0) + APART_MS) continue
    const kind = random.pick(['refused', 'hanging'] as const)
    shared.push({ group: random.between(0, GROUPS - 1), kind, fromMs, toMs: fromMs + spread(random, 20 * S, 30 * MIN) })
  }
  return shared
}

/** Some of the outages, seen from some of the regions of the monitor and some others. */
const regional = (random: Random, { monitors, regions }: SimulatedInstallation, outages: readonly SimulatedOutage[]) =>
  outages.map((outage): SimulatedOutage => {
    const own = random.shuffled(monitors[outage.index]!.settings.regions)
    const seen = [...own.slice(random.between(1, own.length)), ...regions.filter(() => random.chance(0.5))]
    return random.chance(REGIONAL_SHARE) ? { ...outage, regions: [...new Set(seen)] } : outage
  })

/** Some of the outages of many hosts, seen from two to five regions. */
const regionalShared = (random: Random, { regions }: SimulatedInstallation, outages: readonly SharedOutage[]) =>
  outages.map((outage): SharedOutage => {
    const seen = random.shuffled(regions).slice(0, random.between(2, regions.length - 1))
    return random.chance(REGIONAL_SHARED_SHARE) ? { ...outage, regions: seen } : outage
  })

function listPlaces(installation: SimulatedInstallation, kind: SimulatedFaultKind): string[] {
  if (kind.startsWith('probe-')) return installation.regions.flatMap(installation.listProbes)
  if (kind.startsWith('region-')) return [...installation.regions]
  if (kind === 'fleet-killed') return ['a', 'b']
  return ['']
}

function planFault(random: Random, kind: SimulatedFaultKind, place: string, fromMs: number): SimulatedFault {
  const { minMs, maxMs } = RATES[kind]
  return { kind, place, fromMs, toMs: fromMs + spread(random, minMs, maxMs), size: chooseSize(random, kind) }
}

function chooseSize(random: Random, kind: SimulatedFaultKind): number {
  if (kind.endsWith('clock-set')) return (random.chance(0.5) ? 1 : -1) * spread(random, S, 10 * MIN)
  // the ms of commits that the standby lacks
  if (kind === 'postgres-restored') return random.between(1, 10) * S
  return random.between(20, 95) / 100
}
