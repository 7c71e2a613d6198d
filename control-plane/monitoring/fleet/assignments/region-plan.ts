import { CHECK_TYPES, type CheckType } from '../../../../shared/checks/check.ts'
import { parseTarget } from '../../../../shared/checks/target.ts'
import { fnv1a } from '../../../../shared/nats/subjects.ts'

/** A probe that gets work, and the capabilities that it announced: check types and others (fleet.proto, Hello). */
export type LiveProbe = { id: string; capabilities: readonly string[] }

/** The capability of a probe that can reach IPv6 addresses. */
const IPV6 = 'ipv6'
const SUFFIX = `+${IPV6}`
const addIpv6Suffix = (type: string) => `${type}${SUFFIX}`

/** The capability that a check needs: its type, with a suffix for IPv6 addresses. The family of a host name is unknown. */
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
 * Maps the monitors of one region to probes by rendezvous hashing (docs/design/assignments.md#assignment). A probe that
 * joins or leaves moves only the monitors that it gets or had. Every process computes the same plan, in any order of the
 * probes. `placements` has every monitor of the region; `unassigned` those without an owner, because no live probe can
 * check their type.
 */
export type RegionPlan = {
  epoch: number
  /** some monitors have moved to their next probe, but `epoch` and `probes` are still the previous ones */
  isChanging: boolean
  probes: readonly PlannedProbe[]
  placements: Map<string, Placement>
  owned: Map<string, Set<string>>
  unassigned: Set<string>
}

export type AssignmentMove = { monitorId: string; from: string | null; to: string | null }

export function createRegionPlan(): RegionPlan {
  return { epoch: 0, isChanging: false, probes: [], placements: new Map(), owned: new Map(), unassigned: new Set() }
}

/** Returns the probe that checks a monitor: null when no probe can, undefined for a monitor that the region does not check. */
export function findOwner(plan: RegionPlan, monitorId: string): string | null | undefined {
  const placement = plan.placements.get(monitorId)
  return placement && (placement.owner?.id ?? null)
}

/** Selects a live probe that has the capability `need` by `id`, never `notProbeId`. Null when there is none. */
export function pickProbe(plan: RegionPlan, id: string, need: string, notProbeId?: string): string | null {
  const others = plan.probes.filter(probe => probe.id !== notProbeId)
  return pickBest(fnv1a(id), need, others)?.id ?? null
}

/** Adds a monitor to the plan if it is new. A monitor that needs another capability than before may get another probe. */
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

/** Removes a monitor from the plan. Returns the probe that had it. */
export function removeMonitor(plan: RegionPlan, monitorId: string): string | null {
  const owner = plan.placements.get(monitorId)?.owner?.id ?? null
  plan.placements.delete(monitorId)
  unassignFrom(plan, monitorId, owner)
  return owner
}

/** The number of monitors that are processed before other work of the process can run. */
export const MAX_MONITORS_PER_STEP = 500

/**
 * Changes the plan to another set of live probes, or to their new capabilities, in steps of at most
 * `MAX_MONITORS_PER_STEP` monitors. Yields the moves of each step. Between steps monitors may be placed and removed. The
 * plan's probes and epoch change after the last step. Cost: the monitors of probes that left times all probes, plus all
 * other monitors times the probes that joined or changed.
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
  let processed = 0
  plan.isChanging = true
  // a monitor that is placed between two steps is added at the end of the map, so it is processed as well
  for (const [monitorId, placement] of plan.placements) {
    if (processed === MAX_MONITORS_PER_STEP) {
      yield moves
      moves = []
      processed = 0
    }
    processed++
    const former = placement.owner
    const remaining = former && after.get(former.id)
    placement.owner = remaining?.can.has(placement.need)
      ? pickHighestScore(placement.hash, placement.need, joined, remaining)
      : pickBest(placement.hash, placement.need, next)
    if (placement.owner?.id === former?.id) continue
    moves.push({ monitorId, from: former?.id ?? null, to: placement.owner?.id ?? null })
    unassignFrom(plan, monitorId, former?.id ?? null)
    assignTo(plan, monitorId, placement.owner)
  }
  plan.epoch = epoch
  plan.probes = next
  plan.isChanging = false
  for (const id of before.keys()) if (!after.has(id)) plan.owned.delete(id)
  yield moves
}

/** True when the plan includes a probe with exactly these capabilities. */
export function isPlanned(plan: RegionPlan, probe: LiveProbe): boolean {
  const known = plan.probes.find(({ id }) => id === probe.id)
  return isSame(known, toPlannedProbe(probe))
}

/** The monitors of one probe. */
export const getOwnedMonitors = (plan: RegionPlan, probeId: string): ReadonlySet<string> =>
  plan.owned.get(probeId) ?? new Set()

/** True when a probe may have had a monitor that the region no longer checks, or that had another type before. */
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

/** For IPv6 addresses a probe with IPv6 is preferred, not required, because older probes do not announce it. */
function pickBest(monitorHash: number, need: string, probes: readonly PlannedProbe[]): PlannedProbe | null {
  const best = pickHighestScore(monitorHash, need, probes, null)
  return (
    best ?? (need.endsWith(SUFFIX) ? pickHighestScore(monitorHash, need.slice(0, -SUFFIX.length), probes, null) : null)
  )
}

/** Returns the probe with the highest score among those that can check the type. `first` is the initial candidate. */
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

/** The finalizer of Murmur3: each bit of the input changes about half of the output bits. */
function mix(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
