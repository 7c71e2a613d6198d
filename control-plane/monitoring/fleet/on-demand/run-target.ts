import type { CheckSpec } from '../../../../proto/gen/probe/v1/fleet.ts'
import type { RunHint } from '../../../../shared/nats/subjects.ts'
import { type AssignmentTable, getRegionPlan } from '../assignments/assignment-table.ts'
import { findOwner, getRequiredCapability, pickProbe } from '../assignments/region-plan.ts'

/** The probe for an immediate check, and the check. `spec` undefined: the monitor is assigned to the probe. */
export type RunTarget = { probeId: string; spec: CheckSpec | undefined; tenant?: number }

/** Returns the probe that checks the monitor. When that is `notProbeId`, returns another live probe of the region. */
export function findRunTarget(
  table: AssignmentTable,
  region: string,
  { monitorId, notProbeId }: RunHint,
): RunTarget | null {
  const plan = getRegionPlan(table, region)
  const owner = findOwner(plan, monitorId)
  const { spec, tenant } = table.monitors.entries.get(monitorId) ?? {}
  if (!owner || !spec) return null
  const probeId = owner === notProbeId ? pickProbe(plan, monitorId, getRequiredCapability(spec), notProbeId) : owner
  // the owner has the check, or gets it before the run; without a spec its result counts
  return probeId === null ? null : { probeId, spec: probeId === owner ? undefined : spec, tenant }
}
