import { isId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { computeLiveSet } from '../live-sets/live-set.ts'
import { listProbeStates, lockLiveSet, saveRegionEpoch } from '../live-sets/store.ts'
import { FLEET_TIMING } from '../timing.ts'
import { drainProbe, endDrain, listDisagreeingRegions, listDisagreements } from './drain-store.ts'
import { DISAGREEMENT_WINDOW_MS, findOutlier, MIN_MONITORS_TO_DRAIN } from './outlier.ts'

/** How long a probe gets no work; then it is tried again. */
export const DRAIN_DURATION_MS = 3_600_000
const REASON = 'disagrees often'

/**
 * Drains in each region the probe that disagrees often (decisions 4.5), with a new epoch that gives its work to others:
 * one at a time, so that no target can empty a region, and never one that alone can run a type of check there.
 */
export async function drainOutliers(tx: Tx): Promise<void> {
  for (const region of await listDisagreeingRegions(tx, DISAGREEMENT_WINDOW_MS, MIN_MONITORS_TO_DRAIN))
    await drainOutlierOfRegion(tx, region)
}

async function drainOutlierOfRegion(tx: Tx, region: string): Promise<void> {
  const current = await lockLiveSet(tx, region)
  const oddId = findOutlier(await listDisagreements(tx, region, DISAGREEMENT_WINDOW_MS), current)
  const probes = await listProbeStates(tx, region)
  if (oddId === null || probes.some(probe => probe.isDrained)) return
  const drained = probes.map(probe => (probe.id === oddId ? { ...probe, isDrained: true } : probe))
  // who is dead the fleet finds out, which knows since when it has listened
  const next = computeLiveSet(current, drained, FLEET_TIMING, false)
  if (next.includes(oddId)) return
  await drainProbe(tx, oddId, REASON, DRAIN_DURATION_MS)
  await saveRegionEpoch(tx, region, next)
}

/** Lets a drained probe work again, at once. Throws an Error with a sentence when there is no such probe or no drain. */
export async function undrainProbe(db: Db, probeId: string): Promise<void> {
  const isEnded = isId(probeId) && (await db.transaction(tx => endDrain(tx, probeId)))
  if (!isEnded) throw new Error(`there is no drained probe "${probeId}"; "probe list" names them`)
}
