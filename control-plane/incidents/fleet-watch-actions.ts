import { REGIONS } from '../../shared/check.ts'
import { operatorProjectId } from '../accounts/operator/store.ts'
import { drainOddProbes } from '../fleet/drain-actions.ts'
import { drainedProbes } from '../fleet/drain-store.ts'
import { storedRegions } from '../fleet/view-store.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { type RegionSeen, type Troubles, troublesOfProbes, troublesOfRegions } from './fleet-troubles.ts'
import { tellOperator } from './operator-actions.ts'
import { lockTroubles, openSubjects } from './operator-store.ts'

export type FleetSeen = Troubles & { regions: RegionSeen[] }

/**
 * Looks at all regions, drains probes that disagree often, and opens and resolves incidents of the operator project as
 * things are; without such a project nobody is told. Processes look one after the other, so none acts on what another
 * has settled. `watchedMs`: for how long the caller has looked without a gap.
 */
export function lookAtFleet(db: Db, publicUrl: string, watchedMs: number, now: Date): Promise<FleetSeen> {
  return db.transaction(async tx => {
    await lockTroubles(tx)
    const regions = await regionsSeen(tx)
    await drainOddProbes(tx)
    const ofRegions = troublesOfRegions(regions, watchedMs)
    const ofProbes = troublesOfProbes(await drainedProbes(tx), await openSubjects(tx), now)
    const found = {
      troubles: [...ofRegions.troubles, ...ofProbes.troubles],
      wells: [...ofRegions.wells, ...ofProbes.wells],
    }
    const projectId = await operatorProjectId(tx)
    if (projectId !== null) await tellOperator(tx, projectId, found, publicUrl, now)
    return { regions, ...found }
  })
}

async function regionsSeen(tx: Tx): Promise<RegionSeen[]> {
  return (await storedRegions(tx, REGIONS)).map(row => ({
    region: row.region,
    monitors: row.monitors,
    liveProbes: row.live_probes,
    drainedProbes: row.drained_probes,
    noLiveProbeSince: row.no_live_probe_since,
    lastHeartbeatAt: row.last_heartbeat_at,
    readAt: row.read_at,
  }))
}
