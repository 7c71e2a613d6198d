import { REGIONS } from '../../shared/check.ts'
import { now } from '../platform/clock.ts'
import { crc32 } from '../platform/crc32.ts'
import { newId, randomBase62, toBase62 } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { sha256 } from '../platform/secrets.ts'
import { isSameSet, nextLiveSet, type ProbeSeen } from './live-set.ts'
import {
  capabilitiesOf,
  insertProbeToken,
  lockLiveSet,
  type ProbeRow,
  probesSeen,
  regionEpochs,
  saveRegionEpoch,
  upsertProbe,
  useProbeToken,
} from './store.ts'
import type { FleetTiming } from './timing.ts'

/**
 * A new enrolment token bound to a region, `prb_…` (decisions 11.1). It is shown this once; only its SHA-256 is kept.
 * Throws an Error with a sentence for the operator when there is no such region.
 */
export async function createProbeToken(db: Db, region: string): Promise<string> {
  if (!(REGIONS as readonly string[]).includes(region)) {
    throw new Error(`there is no region "${region}"; the regions are ${REGIONS.join(', ')}`)
  }
  const body = `prb_${randomBase62(30)}`
  const token = `${body}${checksumOf(body)}`
  await insertProbeToken(db, { id: newId(), region, hash: sha256(token), now: now() })
  return token
}

/**
 * The token of a probe's metadata `authorization: Bearer prb_…`. What was mistyped or cut off is refused without a
 * look-up, by its checksum; what is not known or revoked by one.
 */
export async function findProbeToken(
  db: Db,
  authorization: string | undefined,
): Promise<{ id: string; region: string } | { refusal: string }> {
  const [, token] = /^Bearer +(prb_[0-9A-Za-z]{36})$/i.exec(authorization ?? '') ?? []
  if (token === undefined) return { refusal: 'send the enrolment token as "authorization: Bearer prb_…"' }
  if (checksumOf(token.slice(0, -6)) !== token.slice(-6)) return { refusal: 'the enrolment token is mistyped' }
  return (await useProbeToken(db, sha256(token))) ?? { refusal: 'the enrolment token is not known or was revoked' }
}

const checksumOf = (text: string) => toBase62(crc32(text), 6)

/**
 * Writes down a probe that has connected; returns its id. When a live probe can do something else than before, as after
 * an upgrade, its region takes a new epoch, so that every process plans with the same.
 */
export async function recordConnection(db: Db, probe: ProbeRow): Promise<string> {
  const known = await capabilitiesOf(db, probe.tokenId, probe.name)
  if (known === null || isSameSet(known.toSorted(), probe.capabilities.toSorted())) return upsertProbe(db, probe)
  return db.transaction(async tx => {
    const probeIds = await lockLiveSet(tx, probe.region)
    const id = await upsertProbe(tx, probe)
    if (probeIds.includes(id)) await saveRegionEpoch(tx, probe.region, probeIds)
    return id
  })
}

/**
 * Brings the live sets of all regions, or of one, in line with what is known of the probes. Each change takes an epoch
 * of its own, in a transaction that holds the region's row, so any number of fleet processes may call this at once.
 * `mayBury` as in `nextLiveSet`. Returns the regions that changed.
 */
export async function updateLiveSets(
  db: Db,
  timing: FleetTiming,
  { region = null, mayBury }: { region?: string | null; mayBury: boolean },
): Promise<string[]> {
  const epochs = new Map((await regionEpochs(db, region)).map(row => [row.region, row.probes.map(({ id }) => id)]))
  const probes = new Map<string, ProbeSeen[]>()
  for (const probe of await probesSeen(db, region)) {
    const ofRegion = probes.get(probe.region)
    if (ofRegion) ofRegion.push(probe)
    else probes.set(probe.region, [probe])
  }
  const differs = (current: string[], seen: ProbeSeen[]) =>
    !isSameSet([...current].sort(), nextLiveSet(current, seen, timing, mayBury))
  const suspects = [...new Set([...epochs.keys(), ...probes.keys()])].filter(name =>
    differs(epochs.get(name) ?? [], probes.get(name) ?? []),
  )
  const changed: string[] = []
  for (const name of suspects) {
    if (await updateLiveSet(db, timing, name, mayBury)) changed.push(name)
  }
  return changed
}

/** The decision once more, on locked and fresh rows. */
function updateLiveSet(db: Db, timing: FleetTiming, region: string, mayBury: boolean): Promise<boolean> {
  return db.transaction(async tx => {
    const probeIds = await lockLiveSet(tx, region)
    const next = nextLiveSet(probeIds, await probesSeen(tx, region), timing, mayBury)
    if (isSameSet([...probeIds].sort(), next)) return false
    await saveRegionEpoch(tx, region, next)
    return true
  })
}
