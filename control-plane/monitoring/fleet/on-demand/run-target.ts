import type { CheckSpec } from '../../../../proto/gen/probe/v1/fleet.ts'
import type { RunHint } from '../../../../shared/nats/subjects.ts'
import { type AssignmentTable, getRegionPlan } from '../assignments/assignment-table.ts'
import { findOwner, getRequiredCapability, pickProbe } from '../assignments/region-plan.ts'

/** The probe that is to check at once, and what; `spec` undefined: what it is assigned anyway. */
export type RunTarget = { probeId: string; spec: CheckSpec | undefined; tenant?: number }

/** The probe that checks the monitor; with `notProbeId` naming that one, another live probe of the region. */
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
  // the probe that checks it anyway has the check, or gets it first: its result is to count
  return probeId === null ? null : { probeId, spec: probeId === owner ? undefined : spec, tenant }
}
