import { REGIONS } from '../../../../shared/checks/check.ts'
import { crc32 } from '../../../foundation/platform/crypto/crc32.ts'
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

/** A token for one probe that nobody has used by then is void. */
const TOKEN_LIFETIME_MS = 7 * 86_400_000

/**
 * A new enrolment token bound to a region, `prb_…` (decisions 11.1). It is shown this once; only its SHA-256 is kept.
 * It lets in one probe within 7 days, or with `isReusable` any number at any time. Throws an Error with a sentence for
 * the operator when there is no such region.
 */
export async function createProbeToken(db: Db, region: string, { isReusable = false } = {}): Promise<string> {
  if (!(REGIONS as readonly string[]).includes(region)) {
    throw new Error(`there is no region "${region}"; the regions are ${REGIONS.join(', ')}`)
  }
  const token = withChecksum(`prb_${randomBase62(30)}`)
  const expiresAt = isReusable ? null : new Date(now().getTime() + TOKEN_LIFETIME_MS)
  await insertProbeToken(db, { id: newId(), region, isReusable, hash: sha256(token), now: now(), expiresAt })
  return token
}

/** Who is at the door. `probeId` null: a probe that its token lets in. */
export type ProbeIdentity = {
  region: string
  tokenId: string
  isReusable: boolean
  probeId: string | null
  /** of a known probe: what it announced at its last connection */
  capabilities: string[] | null
  secretHash: Buffer | null
}

export type ProbeRefusal = { refusal: string }

/** A probe's own secret counts; where it is not known, the token that it brings. */
export async function authenticateProbe(
  db: Db,
  { secret, token }: ProbeCredentials,
): Promise<ProbeIdentity | ProbeRefusal> {
  const secretHash = secret === null ? null : sha256(secret)
  const known = secretHash && (await findProbeBySecret(db, secretHash))
  if (known?.isRevoked) return { refusal: 'this probe was revoked; a new enrolment token lets it in as a new one' }
  if (known) return { ...known, probeId: known.id, secretHash, isReusable: false }
  // what was mistyped or cut off needs no look-up
  if (token !== null && !isToken(token)) return { refusal: 'the enrolment token is mistyped' }
  if (token === null) return { refusal: 'this probe is not known here; give it an enrolment token (PROBE_TOKEN)' }

  const found = await useProbeToken(db, sha256(token))
  if (!found) return { refusal: 'the enrolment token is not known or was revoked' }
  const { id: tokenId, region, isReusable, isExpired, isUsed } = found
  if (isUsed) return { refusal: TOKEN_ALREADY_USED }
  if (isExpired) return { refusal: 'the enrolment token was not used in time; make a new one' }
  if (!isReusable && secret === null) return { refusal: 'this enrolment token is for a newer version of the probe' }
  return { region, tokenId, isReusable, probeId: null, capabilities: null, secretHash }
}

const withChecksum = (body: string) => `${body}${toBase62(crc32(body), 6)}`
const isToken = (token: string) => /^prb_[0-9A-Za-z]{36}$/.test(token) && withChecksum(token.slice(0, -6)) === token

const TOKEN_ALREADY_USED = 'the enrolment token was used by another probe; each needs one of its own'

/** What a probe says of itself. */
export type ProbeAnnouncement = Pick<ProbeRow, 'name' | 'instanceId' | 'version' | 'capabilities' | 'connectedTo'>

/**
 * Writes down a probe that has connected; gives its id. When a live probe can do something else than before, as after
 * an upgrade, its region takes a new epoch, so that every process plans with the same.
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
  const isPlain = !isChanged && (probeId !== null || caller.isReusable)
  try {
    return isPlain
      ? await admitOrEnrol(db, caller, row)
      : await db.transaction(async tx => {
          const probeIds = isChanged ? await lockLiveSet(tx, region) : []
          const entered = await admitOrEnrol(tx, caller, row)
          if ('probeId' in entered && probeIds.includes(entered.probeId)) await saveRegionEpoch(tx, region, probeIds)
          return entered
        })
  } catch (error) {
    if (!isUniqueViolation(error, 'probes_token_id_name_key')) throw error
    return { refusal: `another probe of the same enrolment token is called "${greeting.name}"` }
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

/** Takes back a token, given as itself or by its id, with all probes that it let in: they are out within seconds. */
export async function revokeProbeToken(db: Db, tokenOrId: string): Promise<void> {
  const isKnown = await revokeToken(db, isId(tokenOrId) ? { id: tokenOrId } : { hash: sha256(tokenOrId) })
  if (!isKnown) throw new Error('there is no such enrolment token')
}

/** A probe is out within seconds, and never comes back as itself. */
export async function revokeProbe(db: Db, probeId: string): Promise<void> {
  const isKnown = isId(probeId) && (await revokeProbeById(db, probeId))
  if (!isKnown) throw new Error(`there is no probe "${probeId}"; "probe list" names them`)
}
