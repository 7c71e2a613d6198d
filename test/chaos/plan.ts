import { LATE_STREAM, RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import { type Random, seededRandom } from './random.ts'

/** The size of a run. A long run has several processes of each role; the one in `npm test` is as small as possible. */
export type ChaosScale = {
  minutes: number
  faults: number
  regions: readonly string[]
  /** by name, the roles of each control plane */
  controlPlanes: Record<string, string>
  monitors: number
  /** the longest fault, except for kinds whose shortest duration is longer */
  maxMs: number
  /** each target fails once for the whole run, and customers request checks; otherwise outages begin and end as planned */
  isShort: boolean
  hasDisks: boolean
  /** the checkout of another version, already built: the second process of each kind is started from it; null: none */
  previous: string | null
  /** the only kind of fault to apply; null: all kinds */
  only: ChaosFaultKind | null
}

export const CHAOS_FAULT_KINDS = [
  'kill',
  'freeze',
  'cut link',
  'held link',
  'swallowing link',
  'silent link',
  'kill engine',
  'restart engine',
  'lost seconds',
  'full disk',
  'clock jump',
  'creeping clock',
  'redelivery',
  'wrong messages',
  'bad tenant',
  'two owners',
] as const
export type ChaosFaultKind = (typeof CHAOS_FAULT_KINDS)[number]

/** `seed`: for the random choices within the fault. */
export type PlannedFault = { atMs: number; kind: ChaosFaultKind; what: string; lastsMs: number; seed: number }
export type FailureMode = 'status' | 'reset' | 'hang'
/** `toMs` null: until the verdict has reported the outage after the last fault. */
export type PlannedOutage = { monitor: number; fromMs: number; toMs: number | null; mode: FailureMode }
export type ChaosPlan = { faults: PlannedFault[]; outages: PlannedOutage[]; lastsMs: number }

/** The number of targets that never fail. They are the first ones. */
export const countHealthyTargets = (monitors: number) => Math.ceil(monitors / 3)

const ENGINES = ['PostgreSQL', 'NATS', 'ClickHouse'] as const
export const listProbeNames = ({ regions }: Pick<ChaosScale, 'regions'>) =>
  regions.flatMap(region => [`${region}-1`, `${region}-2`])
const listVerdictNames = ({ controlPlanes }: ChaosScale) =>
  Object.keys(controlPlanes).filter(name => controlPlanes[name]!.includes('verdict'))

/** The links that can be broken: from each control plane to its engines, from each probe to the fleet, from all probes to NATS. */
const listLinkNames = (scale: ChaosScale) => [
  ...Object.keys(scale.controlPlanes).flatMap(name => ENGINES.map(engine => `${name} to ${engine}`)),
  ...listProbeNames(scale).map(name => `${name} to fleet`),
  PROBES_TO_NATS,
]
export const PROBES_TO_NATS = 'probes to NATS'

type Kind = { of: (scale: ChaosScale) => readonly string[]; lastsMs: [number, number]; share: number }

const programs = (scale: ChaosScale) => [...Object.keys(scale.controlPlanes), ...listProbeNames(scale)]

/**
 * The processes whose clock can be set. The clock of NATS is not included: a replay does not know which offset each process had
 * measured for it (test/faults/clocks.test.ts sets it).
 */
const listClockNames = (scale: ChaosScale) => [...programs(scale), ...(scale.isShort ? [] : ['PostgreSQL'])]

const KINDS: Record<ChaosFaultKind, Kind> = {
  kill: { of: programs, lastsMs: [500, 10_000], share: 3 },
  freeze: { of: scale => [...programs(scale), 'NATS', 'ClickHouse'], lastsMs: [1_000, 30_000], share: 2 },
  'cut link': { of: listLinkNames, lastsMs: [1_000, 20_000], share: 2 },
  'held link': { of: listLinkNames, lastsMs: [2_000, 30_000], share: 2 },
  'swallowing link': { of: listLinkNames, lastsMs: [2_000, 20_000], share: 2 },
  // open connections stay silent forever, new ones work
  'silent link': { of: listLinkNames, lastsMs: [5_000, 15_000], share: 2 },
  'kill engine': { of: () => ENGINES, lastsMs: [500, 10_000], share: 2 },
  'restart engine': { of: () => ENGINES, lastsMs: [0, 2_000], share: 1 },
  // a standby that lacks the last seconds is promoted; a short run has no time to make one
  'lost seconds': { of: scale => (scale.isShort ? [] : ['PostgreSQL']), lastsMs: [1_000, 15_000], share: 1 },
  'full disk': { of: scale => listDiskNames(scale), lastsMs: [3_000, 15_000], share: 1 },
  'clock jump': { of: listClockNames, lastsMs: [5_000, 60_000], share: 2 },
  'creeping clock': { of: listClockNames, lastsMs: [5_000, 60_000], share: 1 },
  redelivery: { of: () => [RESULTS_STREAM], lastsMs: [0, 0], share: 1 },
  'wrong messages': { of: () => [RESULTS_STREAM, LATE_STREAM], lastsMs: [0, 0], share: 1 },
  'bad tenant': { of: () => ['another tenant'], lastsMs: [5_000, 30_000], share: 1 },
  'two owners': { of: listVerdictNames, lastsMs: [9_000, 20_000], share: 1 },
}

/** The processes whose disk can be filled. */
const listDiskNames = (scale: ChaosScale) =>
  scale.hasDisks ? [...(scale.isShort ? [] : ['NATS']), ...listProbeNames(scale)] : []

/** Deterministic: the same seed and scale give the same plan. */
export function createChaosPlan(seed: number, scale: ChaosScale): ChaosPlan {
  const random = seededRandom(seed)
  const lastsMs = scale.minutes * 60_000
  return { faults: planFaults(random, scale, lastsMs), outages: planOutages(random, scale, lastsMs), lastsMs }
}

/** Spreads the faults over the run with random offsets. Each kind occurs by its share; no part has two faults at the same time. */
function planFaults(random: Random, scale: ChaosScale, lastsMs: number): PlannedFault[] {
  const isWanted = (kind: ChaosFaultKind) => scale.only === null || scale.only === kind
  const possible = CHAOS_FAULT_KINDS.filter(kind => isWanted(kind) && KINDS[kind].of(scale).length > 0)
  const deck = possible.flatMap(kind => Array.from({ length: KINDS[kind].share }, () => kind))
  const kinds: ChaosFaultKind[] = []
  while (kinds.length < scale.faults) kinds.push(...random.shuffled(deck))
  const busyUntil = new Map<string, number>()
  // the last faults end at about the end of the run
  const spacingMs = (lastsMs - FIRST_MS - scale.maxMs) / scale.faults
  return kinds.slice(0, scale.faults).map((wanted, i) => {
    const atMs = Math.round(FIRST_MS + spacingMs * i + random.between(0, spacingMs))
    const listFree = (kind: ChaosFaultKind) => {
      const isFree = (what: string) => listAffectedParts(kind, what).every(part => (busyUntil.get(part) ?? 0) <= atMs)
      return KINDS[kind].of(scale).filter(isFree)
    }
    const kind = [wanted, ...possible].find(kind => listFree(kind).length > 0) ?? 'redelivery'
    const [minMs, maxMs] = KINDS[kind].lastsMs
    const lastsMs = random.between(minMs, Math.max(minMs, Math.min(maxMs, scale.maxMs)))
    const free = listFree(kind)
    const what = free.length > 0 ? random.pick(free) : RESULTS_STREAM
    for (const part of listAffectedParts(kind, what)) busyUntil.set(part, atMs + lastsMs + SETTLE_MS)
    return { atMs, kind, what, lastsMs, seed: random.between(0, 1_000_000) }
  })
}

const FIRST_MS = 1_000
const SETTLE_MS = 2_000

/**
 * The parts that a fault breaks and restores. All engines count as one part, because only one may fail at a time. A full disk
 * of a probe also cuts the link to NATS, because the probe needs its spool only then.
 */
export function listAffectedParts(kind: ChaosFaultKind, what: string): string[] {
  if ((ENGINES as readonly string[]).includes(what)) return ['engines']
  return kind === 'full disk' ? [what, PROBES_TO_NATS] : [what]
}

const FAILURE_MODES: FailureMode[] = ['status', 'reset', 'hang']

function planOutages(random: Random, scale: ChaosScale, lastsMs: number): PlannedOutage[] {
  const broken = Array.from({ length: scale.monitors }, (_, i) => i).slice(countHealthyTargets(scale.monitors))
  if (scale.isShort) {
    return broken.map(monitor => {
      return { monitor, fromMs: random.between(500, 5_000), toMs: null, mode: random.pick(FAILURE_MODES) }
    })
  }
  return broken.flatMap(monitor => {
    const outages: PlannedOutage[] = []
    for (let fromMs = random.between(20_000, 150_000); fromMs < lastsMs; ) {
      const endMs = fromMs + random.between(30_000, 270_000)
      outages.push({ monitor, fromMs, toMs: endMs < lastsMs ? endMs : null, mode: random.pick(FAILURE_MODES) })
      fromMs = endMs + random.between(180_000, 300_000)
    }
    return outages
  })
}
