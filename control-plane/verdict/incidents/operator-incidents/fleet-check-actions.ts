import { REGIONS } from '../../../../shared/checks/check.ts'
import { findOperatorProjectId } from '../../../accounts/organizations/operator-project-store.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { drainOutliers } from '../../../monitoring/fleet/probes/drain-actions.ts'
import { hasDrainWork, listDrainedProbes } from '../../../monitoring/fleet/probes/drain-store.ts'
import { DISAGREEMENT_WINDOW_MS } from '../../../monitoring/fleet/probes/outlier.ts'
import { listRegions } from '../../../monitoring/fleet/probes/probe-store.ts'
import { type FleetReport, findProbeProblems, findRegionProblems, type RegionHealth } from './fleet-problems.ts'
import { updateOperatorIncidents } from './operator-incident-actions.ts'
import { hasOpenSubjects, listOpenSubjects, lockOperatorIncidents } from './operator-incident-store.ts'

type FleetCheck = FleetReport & { regions: RegionHealth[] }

/**
 * Checks all regions as `checkFleet` does, without a transaction while there is nothing to write: no region without a live probe, no drained probe, no probe
 * that disagrees and no open incident. What begins in the meantime is found by the next check.
 */
export async function checkFleetIfNeeded(db: Db, publicUrl: string, watchedMs: number, now: Date): Promise<FleetCheck> {
  const hasWork = await hasFleetWork(db)
  const regions = await listRegionHealth(db)
  const found = findRegionProblems(regions, watchedMs)
  return hasWork || found.problems.length > 0 ? checkFleet(db, publicUrl, watchedMs, now) : { regions, ...found }
}

/** Drained probes, probes that may have to be drained, and open incidents. */
async function hasFleetWork(db: Db): Promise<boolean> {
  const found = await Promise.all([hasDrainWork(db, DISAGREEMENT_WINDOW_MS), hasOpenSubjects(db)])
  return found.includes(true)
}

/**
 * Checks all regions, drains probes that disagree often, and opens and resolves incidents of the operator project, if
 * there is one. An advisory lock lets one process check at a time. `watchedMs`: for how long the caller has checked
 * without a gap.
 */
function checkFleet(db: Db, publicUrl: string, watchedMs: number, now: Date): Promise<FleetCheck> {
  return db.transaction(async tx => {
    await lockOperatorIncidents(tx)
    const regions = await listRegionHealth(tx)
    await drainOutliers(tx)
    const ofRegions = findRegionProblems(regions, watchedMs)
    const ofProbes = findProbeProblems(await listDrainedProbes(tx), await listOpenSubjects(tx), now)
    const found = {
      problems: [...ofRegions.problems, ...ofProbes.problems],
      recoveries: [...ofRegions.recoveries, ...ofProbes.recoveries],
    }
    const projectId = await findOperatorProjectId(tx)
    if (projectId !== null) await updateOperatorIncidents(tx, projectId, found, publicUrl, now)
    return { regions, ...found }
  })
}

async function listRegionHealth(tx: Db | Tx): Promise<RegionHealth[]> {
  return (await listRegions(tx, REGIONS)).map(row => ({
    region: row.region,
    monitors: row.monitors,
    liveProbes: row.live_probes,
    drainedProbes: row.drained_probes,
    noLiveProbeSince: row.no_live_probe_since,
    lastHeartbeatAt: row.last_heartbeat_at,
    readAt: row.read_at,
  }))
}
