import { computeVoteEndMs } from '../rules/votes.ts'
import type { Disagreement, MonitorState, Policy } from '../types.ts'

/**
 * Whom of two probes of a region the monitor's other regions contradict (decisions 4.5): the majority of those that
 * vote, which were asked when the streak began. Null where there are none or they are divided.
 */
export function findOutlierProbe(
  state: MonitorState,
  { region, probeId, otherProbeId }: Disagreement,
  policy: Policy,
  nowMs: number,
): string | null {
  const others = state.cells.filter(cell => cell.region !== region && computeVoteEndMs(cell, state, policy) > nowMs)
  const failing = others.filter(cell => cell.state === 'failing' || cell.failures > 0).length
  const well = others.length - failing
  if (well === failing) return null
  return well > failing ? probeId : otherProbeId
}
