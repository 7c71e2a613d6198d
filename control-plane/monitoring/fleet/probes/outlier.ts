/** Two probes of a region contradicted each other about a monitor; `oddProbeId`: whom the other regions contradict. */
export type ProbeDisagreement = { monitorId: string; probeId: string; otherProbeId: string; oddProbeId: string | null }

/** `scheduledAtMs`: of the attempt that was contradicted; `atMs`: when JetStream took it. */
export type NewDisagreement = ProbeDisagreement & { region: string; scheduledAtMs: number; atMs: number }

/** How far back disagreements count. */
export const DISAGREEMENT_WINDOW_MS = 10 * 60_000
/** One target may well answer one probe otherwise, as a firewall does; so many different ones do not. */
export const MIN_MONITORS_TO_DRAIN = 5
const MIN_RATIO_TO_PEERS = 3

/**
 * The live probe of a region that disagrees often enough to be drained (decisions 4.5), or null: found odd about 5
 * monitors or more, and about 3 times as many as any other live probe of the region. `seen`: of the region and the
 * window.
 */
export function findOutlier(seen: readonly ProbeDisagreement[], liveProbeIds: readonly string[]): string | null {
  const blamed = groupMonitorsByOutlier(seen)
  const ranking = liveProbeIds
    .map(id => ({ id, monitors: blamed.get(id)?.size ?? 0 }))
    .sort((a, b) => b.monitors - a.monitors)
  const [first, second] = ranking
  if (!first || first.monitors < MIN_MONITORS_TO_DRAIN) return null
  return first.monitors >= MIN_RATIO_TO_PEERS * (second?.monitors ?? 0) ? first.id : null
}

/** The monitors about which each probe is found odd: by the other regions, or else by its peers. */
function groupMonitorsByOutlier(seen: readonly ProbeDisagreement[]): Map<string, Set<string>> {
  const blamed = new Map<string, Set<string>>()
  const blame = (probeId: string, monitorId: string) => blamed.set(probeId, getSet(blamed, probeId).add(monitorId))
  const undecided = seen.filter(({ oddProbeId }) => oddProbeId === null)
  const opponents = groupOpponents(undecided)
  for (const { monitorId, oddProbeId } of seen) if (oddProbeId !== null) blame(oddProbeId, monitorId)
  for (const { monitorId, probeId, otherProbeId } of undecided) {
    if (isAlone(probeId, otherProbeId, opponents)) blame(probeId, monitorId)
    if (isAlone(otherProbeId, probeId, opponents)) blame(otherProbeId, monitorId)
  }
  return blamed
}

/** Contradicted by two probes or more, and this one of them contradicted by nobody else. Of two, nobody can tell. */
const isAlone = (probeId: string, opponentId: string, opponents: Map<string, Set<string>>) =>
  getSet(opponents, probeId).size > 1 && getSet(opponents, opponentId).size === 1

function groupOpponents(seen: readonly ProbeDisagreement[]): Map<string, Set<string>> {
  const opponents = new Map<string, Set<string>>()
  for (const { probeId, otherProbeId } of seen) {
    opponents.set(probeId, getSet(opponents, probeId).add(otherProbeId))
    opponents.set(otherProbeId, getSet(opponents, otherProbeId).add(probeId))
  }
  return opponents
}

const getSet = (sets: Map<string, Set<string>>, id: string) => sets.get(id) ?? new Set<string>()
