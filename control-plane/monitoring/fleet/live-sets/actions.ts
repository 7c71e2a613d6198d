import type { Db } from '../../../foundation/platform/postgres/client.ts'
import type { RegionEpoch } from '../assignments/assignment-table.ts'
import type { FleetTiming } from '../timing.ts'
import { isDatabaseBehind, type KnownLiveSet } from './epochs.ts'
import { computeLiveSet, isSameSet, type ProbeState } from './live-set.ts'
import { listProbeStates, listRegionEpochs, lockLiveSet, saveRegionEpoch } from './store.ts'

export type LiveSetListener = (epochs: readonly RegionEpoch[], probes: readonly ProbeState[]) => Promise<void>

/**
 * Brings the live sets of all regions, or of one, in line with what is known of the probes. Each change takes an epoch
 * of its own, in a transaction that holds the region's row, so any number of fleet processes may call this at once.
 * `canEvict` as in `nextLiveSet`; `knownEpoch` is the region's epoch as this process knows it, which the next one exceeds
 * even if the database was restored a moment ago. `onRead` gets what was read. Returns the regions that changed.
 */
export async function updateLiveSets(
  db: Db,
  timing: FleetTiming,
  {
    region = null,
    canEvict,
    knownEpoch,
    onRead,
  }: { region?: string | null; canEvict: boolean; knownEpoch: (region: string) => number; onRead?: LiveSetListener },
): Promise<string[]> {
  const rows = await listRegionEpochs(db, region)
  const epochs = new Map(rows.map(row => [row.region, row.probes.map(({ id }) => id)]))
  const probes = new Map<string, ProbeState[]>()
  const seenNow = await listProbeStates(db, region)
  for (const probe of seenNow) {
    const ofRegion = probes.get(probe.region)
    if (ofRegion) ofRegion.push(probe)
    else probes.set(probe.region, [probe])
  }
  const differs = (current: string[], seen: ProbeState[]) =>
    !isSameSet([...current].sort(), computeLiveSet(current, seen, timing, canEvict))
  await onRead?.(rows, seenNow)
  const suspects = [...new Set([...epochs.keys(), ...probes.keys()])].filter(name =>
    differs(epochs.get(name) ?? [], probes.get(name) ?? []),
  )
  const changed: string[] = []
  for (const name of suspects) {
    if (await updateLiveSet(db, timing, { region: name, canEvict, knownEpoch: knownEpoch(name) })) changed.push(name)
  }
  return changed
}

/** The decision once more, on locked and fresh rows. */
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
 * Gives the live set that the database has a new epoch, higher than the known one, when the database is behind it; answers
 * whether it was. So two live sets never have one number, and results count again at once.
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
