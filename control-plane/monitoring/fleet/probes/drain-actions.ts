import { isId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { computeLiveSet } from '../live-sets/live-set.ts'
import { listProbeStates, lockLiveSet, saveRegionEpoch } from '../live-sets/store.ts'
import { FLEET_TIMING } from '../timing.ts'
import { DRAIN_DURATION_MS, drainProbe, endDrain, listDisagreeingRegions, listDisagreements } from './drain-store.ts'
import { DISAGREEMENT_WINDOW_MS, findOutlier, MIN_TARGETS_TO_DRAIN } from './outlier.ts'

const REASON = 'disagrees often'

/**
 * Drains in each region the probe that disagrees often, with a new epoch that moves its work to others
 * (docs/design/assignments.md#drain). It drains one probe at a time, so that no target can empty a region, and never the
 * only probe that can run a check type.
 */
export async function drainOutliers(tx: Tx): Promise<void> {
  for (const region of await listDisagreeingRegions(tx, DISAGREEMENT_WINDOW_MS, MIN_TARGETS_TO_DRAIN))
    await drainOutlierOfRegion(tx, region)
}

async function drainOutlierOfRegion(tx: Tx, region: string): Promise<void> {
  const current = await lockLiveSet(tx, region)
  const outlierId = findOutlier(await listDisagreements(tx, region, DISAGREEMENT_WINDOW_MS), current)
  const probes = await listProbeStates(tx, region)
  if (outlierId === null || probes.some(probe => probe.isDrained)) return
  const drained = probes.map(probe => (probe.id === outlierId ? { ...probe, isDrained: true } : probe))
  // only the fleet evicts silent probes, because it has the time since which its records are complete
  const next = computeLiveSet(current, drained, FLEET_TIMING, false)
  if (next.includes(outlierId)) return
  await drainProbe(tx, outlierId, REASON, DRAIN_DURATION_MS)
  await saveRegionEpoch(tx, region, next)
}

/** Ends the drain of a probe. Throws an Error with a message for the operator when the probe does not exist or is not drained. */
export async function undrainProbe(db: Db, probeId: string): Promise<void> {
  const isEnded = isId(probeId) && (await db.transaction(tx => endDrain(tx, probeId)))
  if (!isEnded) throw new Error(`no drained probe has the id "${probeId}"; "probe list" lists all probes`)
}
