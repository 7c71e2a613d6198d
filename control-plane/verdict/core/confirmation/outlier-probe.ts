import { computeVoteEndMs } from '../rules/votes.ts'
import type { Disagreement, MonitorState, Policy } from '../types.ts'

/**
 * The one of two probes of a region that the majority of the other voting regions contradicts; null if no other region
 * votes or they are divided. The other regions were asked when the streak began.
 */
export function findOutlierProbe(
  state: MonitorState,
  { region, probeId, otherProbeId }: Disagreement,
  policy: Policy,
  nowMs: number,
): string | null {
  const others = state.cells.filter(cell => cell.region !== region && computeVoteEndMs(cell, state, policy) > nowMs)
  const failing = others.filter(cell => cell.state === 'failing' || cell.failures > 0).length
  const healthy = others.length - failing
  if (healthy === failing) return null
  return healthy > failing ? probeId : otherProbeId
}
