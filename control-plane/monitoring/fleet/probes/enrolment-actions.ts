import { crc32 } from 'node:zlib'
import { REGIONS } from '../../../../shared/checks/check.ts'
import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { isId, newId, randomBase62, toBase62 } from '../../../foundation/platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { isSameSet } from '../live-sets/live-set.ts'
import { lockLiveSet, saveRegionEpoch } from '../live-sets/store.ts'
import {
  enrolProbe,
  findCapabilities,
  findProbeBySecret,
  insertProbeToken,
  lockTokenUsedByAnother,
  type ProbeRow,
  reconnectProbe,
  revokeProbeById,
  revokeToken,
  useProbeToken,
} from './enrolment-store.ts'
import type { ProbeCredentials } from './probe-credentials.ts'

/** A token for one probe expires when it is not used within this time. */
const TOKEN_LIFETIME_MS = 7 * 86_400_000

/**
 * Creates an enrolment token bound to a region, `prb_…` (docs/design/assignments.md#enrolment). It is shown only once;
 * its SHA-256 is stored. It admits one probe within 7 days, or with `isReusable` any number at any time. Throws an Error with
 * a message for the operator when the region does not exist.
 */
export async function createProbeToken(
  db: Db | Tx,
  region: string,
  options: { isReusable?: boolean } = {},
): Promise<string> {
  return (await insertToken(db, region, options.isReusable ?? false)).token
}

/** Creates a token for one probe. The audit log of the actor of `db` gets an entry. */
export const createSingleProbeToken = (
  db: Db,
  region: string,
): Promise<{ id: string; token: string; expiresAt: Date | null }> =>
  db.transaction(tx => insertToken(tx, region, false))

async function insertToken(db: Db | Tx, region: string, isReusable: boolean) {
  if (!(REGIONS as readonly string[]).includes(region)) {
    throw new Error(`unknown region "${region}"; the regions are ${REGIONS.join(', ')}`)
  }
  const token = withChecksum(`prb_${randomBase62(30)}`)
  const expiresAt = isReusable ? null : new Date(now().getTime() + TOKEN_LIFETIME_MS)
  const id = newId()
  await insertProbeToken(db, { id, region, isReusable, hash: sha256(token), now: now(), expiresAt })
  return { id, token, expiresAt }
}

/** An authenticated probe. `probeId` null: a new probe, authenticated by its token. */
export type ProbeIdentity = {
  region: string
  tokenId: string
  isReusable: boolean
  probeId: string | null
  /** for a known probe: the capabilities that it announced at its last connection */
  capabilities: string[] | null
  secretHash: Buffer | null
}

export type ProbeRefusal = { refusal: string }

/** Authenticates a probe by its secret, or when the secret is unknown, by its enrolment token. */
export async function authenticateProbe(
  db: Db,
  { secret, token }: ProbeCredentials,
): Promise<ProbeIdentity | ProbeRefusal> {
  const secretHash = secret === null ? null : sha256(secret)
  const known = secretHash && (await findProbeBySecret(db, secretHash))
  if (known?.isRevoked)
    return { refusal: 'this probe was revoked; to enrol it as a new probe, create an enrolment token' }
  if (known) return { ...known, probeId: known.id, secretHash, isReusable: false }
  // the checksum finds mistyped and truncated tokens without a query
  if (token !== null && !isToken(token)) return { refusal: 'the enrolment token is malformed; its checksum is wrong' }
  if (token === null) return { refusal: 'this probe is unknown; set an enrolment token (PROBE_TOKEN)' }

  const found = await useProbeToken(db, sha256(token))
  if (!found) return { refusal: 'the enrolment token is unknown or was revoked' }
  const { id: tokenId, region, isReusable, isExpired, isUsed } = found
  if (isUsed) return { refusal: TOKEN_ALREADY_USED }
  if (isExpired) return { refusal: 'the enrolment token has expired; create a new one' }
  if (!isReusable && secret === null) return { refusal: 'this enrolment token needs a newer version of the probe' }
  return { region, tokenId, isReusable, probeId: null, capabilities: null, secretHash }
}

const withChecksum = (body: string) => `${body}${toBase62(crc32(body), 6)}`
const isToken = (token: string) => /^prb_[0-9A-Za-z]{36}$/.test(token) && withChecksum(token.slice(0, -6)) === token

const TOKEN_ALREADY_USED = 'the enrolment token was used by another probe; each probe needs its own token'

/** What a probe announces about itself. */
type ProbeAnnouncement = Pick<ProbeRow, 'name' | 'instanceId' | 'version' | 'capabilities' | 'connectedTo'>

/**
 * Records a probe that has connected and returns its id. When the capabilities of a live probe changed, as after an
 * upgrade, its region gets a new epoch, so that every process plans with the same capabilities.
 */
export async function recordConnection(
  db: Db,
  caller: ProbeIdentity,
  greeting: ProbeAnnouncement,
): Promise<{ probeId: string } | ProbeRefusal> {
  const { region, tokenId, probeId, secretHash } = caller
  const row: ProbeRow = { ...greeting, id: probeId ?? newId(), tokenId, region, secretHash }
  const known = caller.capabilities ?? (await findCapabilities(db, tokenId, greeting.name))
  const isChanged = known !== null && !isSameSet(known.toSorted(), greeting.capabilities.toSorted())
  const needsNoLock = !isChanged && (probeId !== null || caller.isReusable)
  try {
    return needsNoLock
      ? await admitOrEnrol(db, caller, row)
      : await db.transaction(async tx => {
          const probeIds = isChanged ? await lockLiveSet(tx, region) : []
          const admitted = await admitOrEnrol(tx, caller, row)
          if ('probeId' in admitted && probeIds.includes(admitted.probeId)) await saveRegionEpoch(tx, region, probeIds)
          return admitted
        })
  } catch (error) {
    if (!isUniqueViolation(error, 'probes_token_id_name_key')) throw error
    return { refusal: `another probe with the same enrolment token has the name "${greeting.name}"` }
  }
}

async function admitOrEnrol(
  db: Db | Tx,
  caller: ProbeIdentity,
  row: ProbeRow,
): Promise<{ probeId: string } | ProbeRefusal> {
  const { probeId, isReusable, tokenId, secretHash } = caller
  if (probeId === null && !isReusable && (await lockTokenUsedByAnother(db as Tx, tokenId, secretHash))) {
    return { refusal: TOKEN_ALREADY_USED }
  }
  const id = probeId === null ? await enrolProbe(db, row) : await reconnectProbe(db, row)
  return id === null ? { refusal: 'this probe was revoked' } : { probeId: id }
}

/** Revokes a token, given as the token or by its id, and all probes that it admitted. They are disconnected within seconds. */
export async function revokeProbeToken(db: Db, tokenOrId: string): Promise<void> {
  const isKnown = await revokeToken(db, isId(tokenOrId) ? { id: tokenOrId } : { hash: sha256(tokenOrId) })
  if (!isKnown) throw new Error('no such enrolment token')
}

/** Revokes a probe. It is disconnected within seconds and cannot connect again with its secret. */
export async function revokeProbe(db: Db, probeId: string): Promise<void> {
  const isKnown = isId(probeId) && (await revokeProbeById(db, probeId))
  if (!isKnown) throw new Error(`no probe has the id "${probeId}"; "probe list" lists all probes`)
}
