/** Two probes of a region contradicted each other about a monitor. `oddProbeId`: the one that the other regions contradict. */
export type ProbeDisagreement = { monitorId: string; probeId: string; otherProbeId: string; oddProbeId: string | null }

/** `scheduledAtMs`: the time of the contradicted attempt; `atMs`: when JetStream took it. */
export type NewDisagreement = ProbeDisagreement & { region: string; scheduledAtMs: number; atMs: number }

/** The age up to which disagreements count. */
export const DISAGREEMENT_WINDOW_MS = 10 * 60_000
/** A single target may answer one probe differently, for example by a firewall. This many targets do not. */
export const MIN_MONITORS_TO_DRAIN = 5
const MIN_RATIO_TO_PEERS = 3

/**
 * Returns the live probe of a region that disagrees often enough to be drained, or null (docs/design/assignments.md#drain).
 * It is the outlier for at least 5 monitors, and for at least 3 times as many as any other live probe of the region.
 * `disagreements`: those of the region within the window.
 */
export function findOutlier(
  disagreements: readonly ProbeDisagreement[],
  liveProbeIds: readonly string[],
): string | null {
  const monitorsByOutlier = groupMonitorsByOutlier(disagreements)
  const ranking = liveProbeIds
    .map(id => ({ id, monitors: monitorsByOutlier.get(id)?.size ?? 0 }))
    .sort((a, b) => b.monitors - a.monitors)
  const [first, second] = ranking
  if (!first || first.monitors < MIN_MONITORS_TO_DRAIN) return null
  return first.monitors >= MIN_RATIO_TO_PEERS * (second?.monitors ?? 0) ? first.id : null
}

/** Groups the monitors by the probe that is the outlier: according to the other regions, or else to the other probes. */
function groupMonitorsByOutlier(disagreements: readonly ProbeDisagreement[]): Map<string, Set<string>> {
  const monitors = new Map<string, Set<string>>()
  const add = (probeId: string, monitorId: string) => monitors.set(probeId, getSet(monitors, probeId).add(monitorId))
  const undecided = disagreements.filter(({ oddProbeId }) => oddProbeId === null)
  const opponents = groupOpponents(undecided)
  for (const { monitorId, oddProbeId } of disagreements) if (oddProbeId !== null) add(oddProbeId, monitorId)
  for (const { monitorId, probeId, otherProbeId } of undecided) {
    if (isAlone(probeId, otherProbeId, opponents)) add(probeId, monitorId)
    if (isAlone(otherProbeId, probeId, opponents)) add(otherProbeId, monitorId)
  }
  return monitors
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
