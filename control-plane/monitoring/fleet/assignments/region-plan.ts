import { CHECK_TYPES, type CheckType } from '../../../../shared/checks/check.ts'
import { parseTarget } from '../../../../shared/checks/target.ts'
import { fnv1a } from '../../../../shared/nats/subjects.ts'

/** A probe that gets work, and what it announced that it can do: check types, and more (fleet.proto, Hello). */
export type LiveProbe = { id: string; capabilities: readonly string[] }

/** A probe that has a way to IPv6 addresses. */
const IPV6 = 'ipv6'
const SUFFIX = `+${IPV6}`
const addIpv6Suffix = (type: string) => `${type}${SUFFIX}`

/** What a check asks of a probe: its type, and for an address of IPv6 a way there. Of a name nobody knows before. */
export function getRequiredCapability(spec: { type: string; url: string } | null): string {
  if (spec === null) return ''
  const { type, url } = spec
  if (!/\[|^[0-9a-f:]*$/i.test(url)) return type
  const target = parseTarget(type as CheckType, url)
  return 'host' in target && target.host.includes(':') ? addIpv6Suffix(type) : type
}

type PlannedProbe = { id: string; hash: number; can: ReadonlySet<string> }
type Placement = { hash: number; need: string; owner: PlannedProbe | null }

/**
 * Who checks what in one region: rendezvous hashing among the probes that can, so a probe that comes or goes moves only
 * the monitors that it gets or had (decisions 11.1); the same in every process, whatever the order of the probes. `placed` holds every monitor of the region, without an owner while no live probe can
 * check its type; `unassigned` are those.
 */
export type RegionPlan = {
  epoch: number
  probes: readonly PlannedProbe[]
  placements: Map<string, Placement>
  owned: Map<string, Set<string>>
  unassigned: Set<string>
}

export type AssignmentMove = { monitorId: string; from: string | null; to: string | null }

export function createRegionPlan(): RegionPlan {
  return { epoch: 0, probes: [], placements: new Map(), owned: new Map(), unassigned: new Set() }
}

/** The probe that checks a monitor; null while nobody can, undefined for a monitor of other regions only. */
export function findOwner(plan: RegionPlan, monitorId: string): string | null | undefined {
  const placed = plan.placements.get(monitorId)
  return placed && (placed.owner?.id ?? null)
}

/** A live probe that can do what is needed, chosen by `id`; never `notProbeId`. Null when there is none. */
export function pickProbe(plan: RegionPlan, id: string, need: string, notProbeId?: string): string | null {
  const others = plan.probes.filter(probe => probe.id !== notProbeId)
  return pickBest(fnv1a(id), need, others)?.id ?? null
}

/** Puts a monitor into the plan, or finds it there; one whose need changed may get another probe. */
export function placeMonitor(plan: RegionPlan, monitorId: string, need: string): AssignmentMove {
  const known = plan.placements.get(monitorId)
  if (known?.need === need) return { monitorId, from: known.owner?.id ?? null, to: known.owner?.id ?? null }
  const from = known ? removeMonitor(plan, monitorId) : null
  const hash = known?.hash ?? fnv1a(monitorId)
  const owner = pickBest(hash, need, plan.probes)
  plan.placements.set(monitorId, { hash, need, owner })
  assignTo(plan, monitorId, owner)
  return { monitorId, from, to: owner?.id ?? null }
}

/** Takes a monitor out of the plan; returns the probe that had it. */
export function removeMonitor(plan: RegionPlan, monitorId: string): string | null {
  const owner = plan.placements.get(monitorId)?.owner?.id ?? null
  plan.placements.delete(monitorId)
  unassignFrom(plan, monitorId, owner)
  return owner
}

/** Monitors looked at between two moments at which other work of the process may have its turn. */
export const MAX_MONITORS_PER_TURN = 500

/**
 * Makes the plan one for another set of live probes, or for what they can do now, in turns of at most MONITORS_A_TURN
 * monitors; yields the moves of each turn. Between turns monitors may be placed and removed. The plan's probes and epoch
 * are the new ones after the last turn. Work: the monitors of probes that left times the probes, all others times the
 * probes that joined or changed.
 */
export function* applyProbes(
  plan: RegionPlan,
  epoch: number,
  probes: readonly LiveProbe[],
): Generator<AssignmentMove[], void> {
  const before = new Map(plan.probes.map(probe => [probe.id, probe]))
  const next = probes.map(toPlannedProbe)
  const after = new Map(next.map(probe => [probe.id, probe]))
  const joined = next.filter(probe => !isSame(before.get(probe.id), probe))
  let moves: AssignmentMove[] = []
  let looked = 0
  // a monitor that is placed meanwhile comes to the end of the map, so it is looked at as well
  for (const [monitorId, placed] of plan.placements) {
    if (looked === MAX_MONITORS_PER_TURN) {
      yield moves
      moves = []
      looked = 0
    }
    looked++
    const former = placed.owner
    const still = former && after.get(former.id)
    placed.owner = still?.can.has(placed.need)
      ? pickHighestScore(placed.hash, placed.need, joined, still)
      : pickBest(placed.hash, placed.need, next)
    if (placed.owner?.id === former?.id) continue
    moves.push({ monitorId, from: former?.id ?? null, to: placed.owner?.id ?? null })
    unassignFrom(plan, monitorId, former?.id ?? null)
    assignTo(plan, monitorId, placed.owner)
  }
  plan.epoch = epoch
  plan.probes = next
  for (const id of before.keys()) if (!after.has(id)) plan.owned.delete(id)
  yield moves
}

/** True when the plan counts on a probe, and on exactly what it can do. */
export function isPlanned(plan: RegionPlan, probe: LiveProbe): boolean {
  const known = plan.probes.find(({ id }) => id === probe.id)
  return isSame(known, toPlannedProbe(probe))
}

/** The monitors of one probe. */
export const getOwnedMonitors = (plan: RegionPlan, probeId: string): ReadonlySet<string> =>
  plan.owned.get(probeId) ?? new Set()

/** True when a probe may have had a monitor that nobody of the region checks now, or that was of another type before. */
export function mayHaveOwned(plan: RegionPlan, probeId: string, monitorId: string): boolean {
  const hash = fnv1a(monitorId)
  const needs = CHECK_TYPES.flatMap(type => [type, addIpv6Suffix(type)])
  return needs.some(need => pickBest(hash, need, plan.probes)?.id === probeId)
}

function assignTo(plan: RegionPlan, monitorId: string, owner: PlannedProbe | null): void {
  if (owner === null) {
    plan.unassigned.add(monitorId)
    return
  }
  const owned = plan.owned.get(owner.id)
  if (owned) owned.add(monitorId)
  else plan.owned.set(owner.id, new Set([monitorId]))
}

function unassignFrom(plan: RegionPlan, monitorId: string, probeId: string | null): void {
  if (probeId === null) plan.unassigned.delete(monitorId)
  else plan.owned.get(probeId)?.delete(monitorId)
}

const toPlannedProbe = ({ id, capabilities }: LiveProbe): PlannedProbe => ({
  id,
  hash: Math.imul(fnv1a(id), 0x9e3779b1),
  can: new Set(capabilities.includes(IPV6) ? [...capabilities, ...capabilities.map(addIpv6Suffix)] : capabilities),
})

const isSame = (a: PlannedProbe | undefined, b: PlannedProbe): boolean =>
  a !== undefined && a.can.size === b.can.size && [...a.can].every(capability => b.can.has(capability))

/** Over IPv6 a probe that has it is preferred, not demanded: older ones do not say what they have. */
function pickBest(monitorHash: number, need: string, probes: readonly PlannedProbe[]): PlannedProbe | null {
  const best = pickHighestScore(monitorHash, need, probes, null)
  return (
    best ?? (need.endsWith(SUFFIX) ? pickHighestScore(monitorHash, need.slice(0, -SUFFIX.length), probes, null) : null)
  )
}

/** The probe of the highest score among those that can check the type, `first` being the one to beat. */
function pickHighestScore(
  monitorHash: number,
  type: string,
  probes: readonly PlannedProbe[],
  first: PlannedProbe | null,
): PlannedProbe | null {
  let best = first
  let bestScore = first ? mix(monitorHash ^ first.hash) : -1
  for (const probe of probes) {
    if (!probe.can.has(type)) continue
    const score = mix(monitorHash ^ probe.hash)
    if (score > bestScore || (score === bestScore && best !== null && probe.id > best.id)) {
      best = probe
      bestScore = score
    }
  }
  return best
}

/** Murmur3's finish: each bit of the input changes half the bits of the output. */
function mix(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
