import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { computeRevokedWithinMs, type FleetTiming } from '../timing.ts'
import { isDatabaseBehind, type KnownLiveSet } from './epochs.ts'
import { computeLiveSet, isSameSet, type ProbeState } from './live-set.ts'
import {
  type FleetState,
  listProbeStates,
  listRegionEpochs,
  loadFleetState,
  lockLiveSet,
  saveRegionEpoch,
} from './store.ts'

export type FleetStateListener = (state: FleetState) => Promise<void>

/**
 * Updates the live sets of all regions, or of one, from the state of the probes. Each change is committed with a new epoch
 * in a transaction that locks the region's row, so any number of fleet processes may call this concurrently. `canEvict`
 * decides as in `computeLiveSet` when the state is read. `knownEpoch`: the region's epoch in this process; the next epoch is higher even when the database was
 * just restored. `onRead` gets what was read. Returns the regions that changed.
 */
export async function updateLiveSets(
  db: Db,
  timing: FleetTiming,
  {
    region = null,
    canEvict: decide,
    knownEpoch,
    onRead,
  }: {
    region?: string | null
    canEvict: (state: FleetState) => boolean
    knownEpoch: (region: string) => number
    onRead?: FleetStateListener
  },
): Promise<string[]> {
  const state = await loadFleetState(db, region, computeRevokedWithinMs(timing))
  const { epochs: rows, states } = state
  const canEvict = decide(state)
  const epochs = new Map(rows.map(row => [row.region, row.probes.map(({ id }) => id)]))
  const probes = new Map<string, ProbeState[]>()
  for (const probe of states) {
    const ofRegion = probes.get(probe.region)
    if (ofRegion) ofRegion.push(probe)
    else probes.set(probe.region, [probe])
  }
  const differs = (current: string[], probeStates: ProbeState[]) =>
    !isSameSet([...current].sort(), computeLiveSet(current, probeStates, timing, canEvict))
  await onRead?.(state)
  const candidates = [...new Set([...epochs.keys(), ...probes.keys()])].filter(name =>
    differs(epochs.get(name) ?? [], probes.get(name) ?? []),
  )
  const changed: string[] = []
  for (const name of candidates) {
    if (await updateLiveSet(db, timing, { region: name, canEvict, knownEpoch: knownEpoch(name) })) changed.push(name)
  }
  return changed
}

/** Decides again on locked rows that are read again. */
function updateLiveSet(
  db: Db,
  timing: FleetTiming,
  { region, canEvict, knownEpoch }: { region: string; canEvict: boolean; knownEpoch: number },
): Promise<boolean> {
  return db.transaction(async tx => {
    const probeIds = await lockLiveSet(tx, region)
    const next = computeLiveSet(probeIds, await listProbeStates(tx, region), timing, canEvict)
    if (isSameSet([...probeIds].sort(), next)) return false
    await saveRegionEpoch(tx, region, next, knownEpoch)
    return true
  })
}

/**
 * Gives the stored live set an epoch higher than the known one when the database is behind it. Returns whether it was. So
 * two live sets never have the same epoch, and results count again immediately.
 */
export function renewEpoch(db: Db, known: KnownLiveSet): Promise<boolean> {
  return db.transaction(async tx => {
    const probeIds = await lockLiveSet(tx, known.region)
    const [stored] = await listRegionEpochs(tx, known.region)
    if (!isDatabaseBehind(stored, known)) return false
    await saveRegionEpoch(tx, known.region, probeIds, known.epoch)
    return true
  })
}
