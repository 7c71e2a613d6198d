import { LATE_STREAM, RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import { type Random, seededRandom } from './random.ts'

/** What a run is made of. A long run has several of each role; the one in `npm test` is as small as can be. */
export type ChaosScale = {
  minutes: number
  faults: number
  regions: readonly string[]
  /** by name, the roles of each control plane */
  controlPlanes: Record<string, string>
  monitors: number
  /** no fault lasts longer, unless it would be none then */
  longestMs: number
  /** targets break once for the whole run, and customers ask for checks; else they come and go as planned */
  isShort: boolean
  hasDisks: boolean
  /** a checkout of another version, built: the second process of each kind comes from there; null: none does */
  previous: string | null
  /** of all kinds of faults only this one; null: all */
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

/** `seed`: for what the fault leaves to chance. */
export type PlannedFault = { atMs: number; kind: ChaosFaultKind; what: string; lastsMs: number; seed: number }
export type FailureMode = 'status' | 'reset' | 'hang'
/** `toMs` null: until the verdict has told of it after the last fault. */
export type PlannedOutage = { monitor: number; fromMs: number; toMs: number | null; mode: FailureMode }
export type ChaosPlan = { faults: PlannedFault[]; outages: PlannedOutage[]; lastsMs: number }

/** Of so many monitors the first ones are never broken. */
export const countHealthyTargets = (monitors: number) => Math.ceil(monitors / 3)

export const ENGINES = ['PostgreSQL', 'NATS', 'ClickHouse'] as const
export const listProbeNames = ({ regions }: Pick<ChaosScale, 'regions'>) =>
  regions.flatMap(region => [`${region}-1`, `${region}-2`])
export const listVerdictNames = ({ controlPlanes }: ChaosScale) =>
  Object.keys(controlPlanes).filter(name => controlPlanes[name]!.includes('verdict'))

/** Every link that can be broken: of each control plane to its engines, of each probe to the fleet, of all to NATS. */
export const listLinkNames = (scale: ChaosScale) => [
  ...Object.keys(scale.controlPlanes).flatMap(name => ENGINES.map(engine => `${name} to ${engine}`)),
  ...listProbeNames(scale).map(name => `${name} to fleet`),
  PROBES_TO_NATS,
]
export const PROBES_TO_NATS = 'probes to NATS'

type Kind = { of: (scale: ChaosScale) => readonly string[]; lastsMs: [number, number]; share: number }

const programs = (scale: ChaosScale) => [...Object.keys(scale.controlPlanes), ...listProbeNames(scale)]

/**
 * Whose clock can be set. That of NATS is not among them: a replay could not tell how far ahead each process held it to be
 * (test/flow/clocks.test.ts sets it).
 */
export const listClockNames = (scale: ChaosScale) => [...programs(scale), ...(scale.isShort ? [] : ['PostgreSQL'])]

const KINDS: Record<ChaosFaultKind, Kind> = {
  kill: { of: programs, lastsMs: [500, 10_000], share: 3 },
  freeze: { of: scale => [...programs(scale), 'NATS', 'ClickHouse'], lastsMs: [1_000, 30_000], share: 2 },
  'cut link': { of: listLinkNames, lastsMs: [1_000, 20_000], share: 2 },
  'held link': { of: listLinkNames, lastsMs: [2_000, 30_000], share: 2 },
  'swallowing link': { of: listLinkNames, lastsMs: [2_000, 20_000], share: 2 },
  // its open connections lead nowhere for good, and new ones work at once
  'silent link': { of: listLinkNames, lastsMs: [5_000, 15_000], share: 2 },
  'kill engine': { of: () => ENGINES, lastsMs: [500, 10_000], share: 2 },
  'restart engine': { of: () => ENGINES, lastsMs: [0, 2_000], share: 1 },
  // the store of a NATS in memory is too large for a short test
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

/** Whose disk can be full. */
export const listDiskNames = (scale: ChaosScale) =>
  scale.hasDisks ? [...(scale.isShort ? [] : ['NATS']), ...listProbeNames(scale)] : []

/** The same seed and scale give the same plan. */
export function createChaosPlan(seed: number, scale: ChaosScale): ChaosPlan {
  const random = seededRandom(seed)
  const lastsMs = scale.minutes * 60_000
  return { faults: planFaults(random, scale, lastsMs), outages: planOutages(random, scale, lastsMs), lastsMs }
}

/** Evenly in time but for chance, each kind in turn by its share, and never two faults of one thing at once. */
function planFaults(random: Random, scale: ChaosScale, lastsMs: number): PlannedFault[] {
  const isWanted = (kind: ChaosFaultKind) => scale.only === null || scale.only === kind
  const possible = CHAOS_FAULT_KINDS.filter(kind => isWanted(kind) && KINDS[kind].of(scale).length > 0)
  const deck = possible.flatMap(kind => Array.from({ length: KINDS[kind].share }, () => kind))
  const kinds: ChaosFaultKind[] = []
  while (kinds.length < scale.faults) kinds.push(...random.shuffled(deck))
  const busyUntil = new Map<string, number>()
  // the last ones end about when the run does
  const spacingMs = (lastsMs - FIRST_MS - scale.longestMs) / scale.faults
  return kinds.slice(0, scale.faults).map((wanted, i) => {
    const atMs = Math.round(FIRST_MS + spacingMs * i + random.between(0, spacingMs))
    const freeOf = (kind: ChaosFaultKind) => {
      const isFree = (what: string) => listAffectedParts(kind, what).every(thing => (busyUntil.get(thing) ?? 0) <= atMs)
      return KINDS[kind].of(scale).filter(isFree)
    }
    const kind = [wanted, ...possible].find(kind => freeOf(kind).length > 0) ?? 'redelivery'
    const [shortestMs, longestMs] = KINDS[kind].lastsMs
    const lastsMs = random.between(shortestMs, Math.max(shortestMs, Math.min(longestMs, scale.longestMs)))
    const free = freeOf(kind)
    const what = free.length > 0 ? random.pick(free) : RESULTS_STREAM
    for (const thing of listAffectedParts(kind, what)) busyUntil.set(thing, atMs + lastsMs + SETTLE_MS)
    return { atMs, kind, what, lastsMs, seed: random.between(0, 1_000_000) }
  })
}

const FIRST_MS = 1_000
const SETTLE_MS = 2_000

/**
 * The parts that a fault breaks and mends. One engine at a time: without any of them nothing could be expected of the
 * others. A probe's disk is full while it needs its spool, so its way to NATS is cut as well.
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
