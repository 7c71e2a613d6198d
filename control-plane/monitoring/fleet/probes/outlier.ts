/** Two probes of a region contradicted each other. `oddProbeId`: the one that the other regions contradict. */
type Contradiction = { probeId: string; otherProbeId: string; oddProbeId: string | null }

/** `scheduledAtMs`: the time of the contradicted attempt; `atMs`: when JetStream took it. */
export type NewDisagreement = Contradiction & {
  monitorId: string
  region: string
  scheduledAtMs: number
  atMs: number
}

/** `target`: the host that the monitor checks. */
export type ProbeDisagreement = Contradiction & { target: string }

/** The age up to which disagreements count. */
export const DISAGREEMENT_WINDOW_MS = 10 * 60_000
/** A single host may answer one probe differently, for example by a firewall. This many hosts do not. */
export const MIN_TARGETS_TO_DRAIN = 5
const MIN_RATIO_TO_PEERS = 3

/**
 * Returns the live probe of a region that disagrees often enough to be drained, or null (docs/design/assignments.md#drain).
 * It is the outlier for at least 5 hosts, and for at least 3 times as many as any other live probe of the region.
 * `disagreements`: those of the region within the window.
 */
export function findOutlier(
  disagreements: readonly ProbeDisagreement[],
  liveProbeIds: readonly string[],
): string | null {
  const targetsByOutlier = groupTargetsByOutlier(disagreements)
  const ranking = liveProbeIds
    .map(id => ({ id, targets: targetsByOutlier.get(id)?.size ?? 0 }))
    .sort((a, b) => b.targets - a.targets)
  const [first, second] = ranking
  if (!first || first.targets < MIN_TARGETS_TO_DRAIN) return null
  return first.targets >= MIN_RATIO_TO_PEERS * (second?.targets ?? 0) ? first.id : null
}

/** Groups the hosts by the probe that is the outlier: according to the other regions, or else to the other probes. */
function groupTargetsByOutlier(disagreements: readonly ProbeDisagreement[]): Map<string, Set<string>> {
  const targets = new Map<string, Set<string>>()
  const add = (probeId: string, target: string) => targets.set(probeId, getSet(targets, probeId).add(target))
  const undecided = disagreements.filter(({ oddProbeId }) => oddProbeId === null)
  const opponents = groupOpponents(undecided)
  for (const { target, oddProbeId } of disagreements) if (oddProbeId !== null) add(oddProbeId, target)
  for (const { target, probeId, otherProbeId } of undecided) {
    if (isAlone(probeId, otherProbeId, opponents)) add(probeId, target)
    if (isAlone(otherProbeId, probeId, opponents)) add(otherProbeId, target)
  }
  return targets
}

/**
 * True when two or more probes contradict this one, and no other probe contradicts this opponent. Between only two probes
 * it cannot be decided which one is wrong.
 */
const isAlone = (probeId: string, opponentId: string, opponents: Map<string, Set<string>>) =>
  getSet(opponents, probeId).size > 1 && getSet(opponents, opponentId).size === 1

function groupOpponents(disagreements: readonly ProbeDisagreement[]): Map<string, Set<string>> {
  const opponents = new Map<string, Set<string>>()
  for (const { probeId, otherProbeId } of disagreements) {
    opponents.set(probeId, getSet(opponents, probeId).add(otherProbeId))
    opponents.set(otherProbeId, getSet(opponents, otherProbeId).add(probeId))
  }
  return opponents
}

const getSet = (sets: Map<string, Set<string>>, id: string) => sets.get(id) ?? new Set<string>()
