import { fnv1a } from '../../shared/subjects.ts'

type Seed = { id: string; hash: number }
type Placed = { hash: number; owner: Seed | null }

/** Who checks what in one region. `placed` holds every monitor of the region, without an owner while nobody is live. */
export type RegionPlan = {
  epoch: number
  probes: readonly Seed[]
  placed: Map<string, Placed>
  owned: Map<string, Set<string>>
}

export type Move = { monitorId: string; from: string | null; to: string | null }

/**
 * Which of some probes checks a monitor: rendezvous hashing, so a probe that comes or goes moves only the monitors that
 * it gets or had (decisions 11.1). The same everywhere, whatever the order of the probes. Null when there are none.
 */
export function assignedTo(monitorId: string, probeIds: readonly string[]): string | null {
  return highest(fnv1a(monitorId), probeIds.map(seedOf), null)?.id ?? null
}

export function createPlan(): RegionPlan {
  return { epoch: 0, probes: [], placed: new Map(), owned: new Map() }
}

/** The probe that checks a monitor; null while nobody is live, undefined for a monitor of other regions only. */
export function ownerOf(plan: RegionPlan, monitorId: string): string | null | undefined {
  const placed = plan.placed.get(monitorId)
  return placed && (placed.owner?.id ?? null)
}

/** Puts a monitor into the plan, or finds it there; returns its probe. */
export function place(plan: RegionPlan, monitorId: string): string | null {
  let placed = plan.placed.get(monitorId)
  if (!placed) {
    const hash = fnv1a(monitorId)
    placed = { hash, owner: highest(hash, plan.probes, null) }
    plan.placed.set(monitorId, placed)
    give(plan, monitorId, placed.owner)
  }
  return placed.owner?.id ?? null
}

/** Takes a monitor out of the plan; returns the probe that had it. */
export function remove(plan: RegionPlan, monitorId: string): string | null {
  const owner = plan.placed.get(monitorId)?.owner?.id ?? null
  plan.placed.delete(monitorId)
  if (owner !== null) plan.owned.get(owner)?.delete(monitorId)
  return owner
}

/**
 * Makes the plan one for another set of live probes. Work: the monitors of probes that left times the probes, all
 * others times the probes that joined.
 */
export function changeProbes(plan: RegionPlan, epoch: number, probeIds: readonly string[]): Move[] {
  const before = new Set(plan.probes.map(probe => probe.id))
  const after = new Set(probeIds)
  plan.epoch = epoch
  plan.probes = probeIds.map(seedOf)
  const joined = plan.probes.filter(probe => !before.has(probe.id))
  const moves: Move[] = []
  for (const [monitorId, placed] of plan.placed) {
    const former = placed.owner
    const stays = former !== null && after.has(former.id)
    placed.owner = stays ? highest(placed.hash, joined, former) : highest(placed.hash, plan.probes, null)
    if (placed.owner?.id === former?.id) continue
    moves.push({ monitorId, from: former?.id ?? null, to: placed.owner?.id ?? null })
    if (former) plan.owned.get(former.id)?.delete(monitorId)
    give(plan, monitorId, placed.owner)
  }
  for (const id of before) if (!after.has(id)) plan.owned.delete(id)
  return moves
}

/** The monitors of one probe. */
export const ownedBy = (plan: RegionPlan, probeId: string): ReadonlySet<string> => plan.owned.get(probeId) ?? new Set()

function give(plan: RegionPlan, monitorId: string, owner: Seed | null): void {
  if (owner === null) return
  const owned = plan.owned.get(owner.id)
  if (owned) owned.add(monitorId)
  else plan.owned.set(owner.id, new Set([monitorId]))
}

const seedOf = (id: string): Seed => ({ id, hash: Math.imul(fnv1a(id), 0x9e3779b1) })

/** The probe of the highest score, `first` being the one to beat. */
function highest(monitorHash: number, probes: readonly Seed[], first: Seed | null): Seed | null {
  let best = first
  let bestScore = first ? mix(monitorHash ^ first.hash) : -1
  for (const probe of probes) {
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
