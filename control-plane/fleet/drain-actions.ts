import { isId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { disagreeingRegions, disagreementsOf, drainProbe, endDrain } from './drain-store.ts'
import { nextLiveSet } from './live-set.ts'
import { MONITORS_TO_DRAIN, probeToDrain, WINDOW_MS } from './odd-probes.ts'
import { lockLiveSet, probesSeen, saveRegionEpoch } from './store.ts'
import { FLEET_TIMING } from './timing.ts'

/** How long a probe gets no work; then it is tried again. */
export const DRAINED_FOR_MS = 3_600_000
const REASON = 'disagrees often'

/**
 * Drains in each region the probe that disagrees often (decisions 4.5), with a new epoch that gives its work to others:
 * one at a time, so that no target can empty a region, and never one that alone can run a type of check there.
 */
export async function drainOddProbes(tx: Tx): Promise<void> {
  for (const region of await disagreeingRegions(tx, WINDOW_MS, MONITORS_TO_DRAIN)) await drainIn(tx, region)
}

async function drainIn(tx: Tx, region: string): Promise<void> {
  const current = await lockLiveSet(tx, region)
  const oddId = probeToDrain(await disagreementsOf(tx, region, WINDOW_MS), current)
  const probes = await probesSeen(tx, region)
  if (oddId === null || probes.some(probe => probe.isDrained)) return
  const drained = probes.map(probe => (probe.id === oddId ? { ...probe, isDrained: true } : probe))
  // who is dead the fleet finds out, which knows since when it has listened
  const next = nextLiveSet(current, drained, FLEET_TIMING, false)
  if (next.includes(oddId)) return
  await drainProbe(tx, oddId, REASON, DRAINED_FOR_MS)
  await saveRegionEpoch(tx, region, next)
}

/** Lets a drained probe work again, at once. Throws an Error with a sentence when there is no such probe or no drain. */
export async function undrainProbe(db: Db, probeId: string): Promise<void> {
  const isEnded = isId(probeId) && (await db.transaction(tx => endDrain(tx, probeId)))
  if (!isEnded) throw new Error(`there is no drained probe "${probeId}"; "probe list" names them`)
}
