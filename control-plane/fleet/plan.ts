import { fnv1a } from '../../shared/subjects.ts'

type Seed = { id: string; hash: number }

/** Who checks what in one region. `owners` holds every monitor of the region, null while nobody is live. */
export type RegionPlan = {
  epoch: number
  probes: readonly Seed[]
  owners: Map<string, string | null>
  owned: Map<string, Set<string>>
}

export type Move = { monitorId: string; from: string | null; to: string | null }

/**
 * Which of some probes checks a monitor: rendezvous hashing, so a probe that comes or goes moves only the monitors that
 * it gets or had (decisions 11.1). The same everywhere, whatever the order of the probes. Null when there are none.
 */
export function assignedTo(monitorId: string, probeIds: readonly string[]): string | null {
  return highest(fnv1a(monitorId), probeIds.map(seedOf))
}

export function createPlan(): RegionPlan {
  return { epoch: 0, probes: [], owners: new Map(), owned: new Map() }
}

/** Puts a monitor into the plan, or finds it there; returns its probe. */
export function place(plan: RegionPlan, monitorId: string): string | null {
  const known = plan.owners.get(monitorId)
  if (known !== undefined) return known
  const owner = highest(fnv1a(monitorId), plan.probes)
  give(plan, monitorId, owner)
  return owner
}

/** Takes a monitor out of the plan; returns the probe that had it. */
export function remove(plan: RegionPlan, monitorId: string): string | null {
  const owner = plan.owners.get(monitorId) ?? null
  plan.owners.delete(monitorId)
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
  for (const [monitorId, from] of plan.owners) {
    const stays = from !== null && after.has(from)
    if (stays && joined.length === 0) continue
    const hash = fnv1a(monitorId)
    const to = stays ? highest(hash, [seedOf(from), ...joined]) : highest(hash, plan.probes)
    if (to !== from) moves.push({ monitorId, from, to })
  }
  for (const { monitorId, to } of moves) {
    remove(plan, monitorId)
    give(plan, monitorId, to)
  }
  for (const id of before) if (!after.has(id)) plan.owned.delete(id)
  return moves
}

/** The monitors of one probe. */
export const ownedBy = (plan: RegionPlan, probeId: string): ReadonlySet<string> => plan.owned.get(probeId) ?? new Set()

function give(plan: RegionPlan, monitorId: string, owner: string | null): void {
  plan.owners.set(monitorId, owner)
  if (owner === null) return
  const owned = plan.owned.get(owner)
  if (owned) owned.add(monitorId)
  else plan.owned.set(owner, new Set([monitorId]))
}

const seedOf = (id: string): Seed => ({ id, hash: fnv1a(id) })

function highest(monitorHash: number, probes: readonly Seed[]): string | null {
  let best: Seed | null = null
  let bestScore = -1
  for (const probe of probes) {
    const score = mix(monitorHash ^ Math.imul(probe.hash, 0x9e3779b1))
    if (score > bestScore || (score === bestScore && best !== null && probe.id > best.id)) {
      best = probe
      bestScore = score
    }
  }
  return best?.id ?? null
}

/** Murmur3's finish: each bit of the input changes half the bits of the output. */
function mix(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
