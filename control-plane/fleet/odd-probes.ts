/** Two probes of a region contradicted each other about a monitor; `oddProbeId`: whom the other regions contradict. */
export type DisagreementSeen = { monitorId: string; probeId: string; otherProbeId: string; oddProbeId: string | null }

/** `scheduledAtMs`: of the attempt that was contradicted; `atMs`: when JetStream took it. */
export type NewDisagreement = DisagreementSeen & { region: string; scheduledAtMs: number; atMs: number }

/** How far back disagreements count. */
export const WINDOW_MS = 10 * 60_000
/** One target may well answer one probe otherwise, as a firewall does; so many different ones do not. */
export const MONITORS_TO_DRAIN = 5
const TIMES_ITS_PEERS = 3

/**
 * The live probe of a region that disagrees often enough to be drained (decisions 4.5), or null: found odd about 5
 * monitors or more, and about 3 times as many as any other live probe of the region. `seen`: of the region and the
 * window.
 */
export function probeToDrain(seen: readonly DisagreementSeen[], liveProbeIds: readonly string[]): string | null {
  const blamed = monitorsBlamed(seen)
  const ranking = liveProbeIds
    .map(id => ({ id, monitors: blamed.get(id)?.size ?? 0 }))
    .sort((a, b) => b.monitors - a.monitors)
  const [first, second] = ranking
  if (!first || first.monitors < MONITORS_TO_DRAIN) return null
  return first.monitors >= TIMES_ITS_PEERS * (second?.monitors ?? 0) ? first.id : null
}

/** The monitors about which each probe is found odd: by the other regions, or else by its peers. */
function monitorsBlamed(seen: readonly DisagreementSeen[]): Map<string, Set<string>> {
  const blamed = new Map<string, Set<string>>()
  const blame = (probeId: string, monitorId: string) => blamed.set(probeId, known(blamed, probeId).add(monitorId))
  const undecided = seen.filter(({ oddProbeId }) => oddProbeId === null)
  const opponents = opponentsOf(undecided)
  for (const { monitorId, oddProbeId } of seen) if (oddProbeId !== null) blame(oddProbeId, monitorId)
  for (const { monitorId, probeId, otherProbeId } of undecided) {
    if (isAlone(probeId, otherProbeId, opponents)) blame(probeId, monitorId)
    if (isAlone(otherProbeId, probeId, opponents)) blame(otherProbeId, monitorId)
  }
  return blamed
}

/** Contradicted by two probes or more, and this one of them contradicted by nobody else. Of two, nobody can tell. */
const isAlone = (probeId: string, opponentId: string, opponents: Map<string, Set<string>>) =>
  known(opponents, probeId).size > 1 && known(opponents, opponentId).size === 1

function opponentsOf(seen: readonly DisagreementSeen[]): Map<string, Set<string>> {
  const opponents = new Map<string, Set<string>>()
  for (const { probeId, otherProbeId } of seen) {
    opponents.set(probeId, known(opponents, probeId).add(otherProbeId))
    opponents.set(otherProbeId, known(opponents, otherProbeId).add(probeId))
  }
  return opponents
}

const known = (sets: Map<string, Set<string>>, id: string) => sets.get(id) ?? new Set<string>()
