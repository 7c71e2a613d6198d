import type { Db } from '../platform/postgres.ts'
import type { RegionEpoch } from './book.ts'
import { isBehind, type KnownSet } from './epochs.ts'
import { isSameSet, nextLiveSet, type ProbeSeen } from './live-set.ts'
import { lockLiveSet, probesSeen, regionEpochs, saveRegionEpoch } from './store.ts'
import type { FleetTiming } from './timing.ts'

export type OnRead = (epochs: readonly RegionEpoch[], probes: readonly ProbeSeen[]) => Promise<void>

/**
 * Brings the live sets of all regions, or of one, in line with what is known of the probes. Each change takes an epoch
 * of its own, in a transaction that holds the region's row, so any number of fleet processes may call this at once.
 * `mayBury` as in `nextLiveSet`; `knownEpoch` is the region's epoch as this process knows it, which the next one exceeds
 * even if the database was restored a moment ago. `onRead` gets what was read. Returns the regions that changed.
 */
export async function updateLiveSets(
  db: Db,
  timing: FleetTiming,
  {
    region = null,
    mayBury,
    knownEpoch,
    onRead,
  }: { region?: string | null; mayBury: boolean; knownEpoch: (region: string) => number; onRead?: OnRead },
): Promise<string[]> {
  const rows = await regionEpochs(db, region)
  const epochs = new Map(rows.map(row => [row.region, row.probes.map(({ id }) => id)]))
  const probes = new Map<string, ProbeSeen[]>()
  const seenNow = await probesSeen(db, region)
  for (const probe of seenNow) {
    const ofRegion = probes.get(probe.region)
    if (ofRegion) ofRegion.push(probe)
    else probes.set(probe.region, [probe])
  }
  const differs = (current: string[], seen: ProbeSeen[]) =>
    !isSameSet([...current].sort(), nextLiveSet(current, seen, timing, mayBury))
  await onRead?.(rows, seenNow)
  const suspects = [...new Set([...epochs.keys(), ...probes.keys()])].filter(name =>
    differs(epochs.get(name) ?? [], probes.get(name) ?? []),
  )
  const changed: string[] = []
  for (const name of suspects) {
    if (await updateLiveSet(db, timing, { region: name, mayBury, knownEpoch: knownEpoch(name) })) changed.push(name)
  }
  return changed
}

/** The decision once more, on locked and fresh rows. */
function updateLiveSet(
  db: Db,
  timing: FleetTiming,
  { region, mayBury, knownEpoch }: { region: string; mayBury: boolean; knownEpoch: number },
): Promise<boolean> {
  return db.transaction(async tx => {
    const probeIds = await lockLiveSet(tx, region)
    const next = nextLiveSet(probeIds, await probesSeen(tx, region), timing, mayBury)
    if (isSameSet([...probeIds].sort(), next)) return false
    await saveRegionEpoch(tx, region, next, knownEpoch)
    return true
  })
}

/**
 * Gives the live set that the database has a new epoch, higher than the known one, when the database is behind it; answers
 * whether it was. So two live sets never have one number, and results count again at once.
 */
export function renewEpoch(db: Db, known: KnownSet): Promise<boolean> {
  return db.transaction(async tx => {
    const probeIds = await lockLiveSet(tx, known.region)
    const [stored] = await regionEpochs(tx, known.region)
    if (!isBehind(stored, known)) return false
    await saveRegionEpoch(tx, known.region, probeIds, known.epoch)
    return true
  })
}
