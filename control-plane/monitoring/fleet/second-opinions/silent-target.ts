import type { Silent } from '../../../../proto/gen/probe/v1/fleet.ts'
import { type AssignmentTable, getRegionPlan } from '../assignments/assignment-table.ts'
import { findOwner } from '../assignments/region-plan.ts'

/** The shortest time between two requests to other regions for a monitor, as a share of its interval. */
const MIN_ASK_INTERVAL_SHARE = 0.5

/**
 * Returns the regions to ask for an immediate check because a probe found a target silent, and records that they were asked.
 * Only the probe that owns the monitor may ask. `nowMs` is monotonic.
 */
export function pickRegionsToAsk(
  table: AssignmentTable,
  { probeId, region }: { probeId: string; region: string },
  { monitorId, configVersion }: Silent,
  nowMs: number,
): string[] {
  const entry = table.monitors.entries.get(monitorId)
  if (entry?.configVersion !== configVersion || findOwner(getRegionPlan(table, region), monitorId) !== probeId)
    return []
  const sinceAskedMs = nowMs - (entry.othersAskedMs ?? Number.NEGATIVE_INFINITY)
  if (sinceAskedMs < entry.intervalS * 1000 * MIN_ASK_INTERVAL_SHARE) return []
  entry.othersAskedMs = nowMs
  return entry.regions.filter(other => other !== region)
}
