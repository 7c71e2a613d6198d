import { now, nowMs } from '../../platform/clock.ts'
import { isId, newId } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import { createRecent } from '../../platform/recent.ts'
import { sha256 } from '../../platform/secrets.ts'
import { hintOf, newApiKey, verifyChecksum } from '../../web/api-key.ts'
import type { Authenticate, Caller, Scope } from '../../web/auth.ts'
import { conflict, notFound } from '../../web/errors.ts'
import { createLookUp } from '../../web/look-ups.ts'
import { assertWithinLimit } from '../actions.ts'
import type { Limits } from '../plans.ts'
import { findCaller, insertApiKey, lockScopes, markUsed, removeApiKey } from './store.ts'

/** A deleted key stops working in this process within this time. */
const CACHE_MS = 5_000
const CACHE_ENTRIES = 10_000
/** A program that goes on with one that was deleted asks 12 times a minute. */
const UNKNOWN_PER_MINUTE = 300

/** Makes a key. `key` is the only time that it is shown in full. */
export async function createApiKey(
  db: Db | Tx,
  owner: { projectId: string; userId: string | null },
  { name, scope }: { name: string; scope: Scope },
) {
  const key = newApiKey()
  const row = await insertApiKey(db, {
    id: newId(),
    projectId: owner.projectId,
    createdBy: owner.userId,
    name,
    scope,
    keyHash: sha256(key),
    hint: hintOf(key),
    now: now(),
  })
  return { ...row, key }
}

/** The same for somebody who asks for one. Throws 402 when the plan is full. */
export const addApiKey = (
  db: Db,
  caller: Pick<Caller, 'projectId' | 'organizationId' | 'userId'>,
  key: { name: string; scope: Scope },
  limits: Limits,
) =>
  db.transaction(async tx => {
    await assertWithinLimit(tx, caller.organizationId, 'apiKeys', 1, limits)
    return createApiKey(tx, caller, key)
  })

/** Throws 404, and 409 for the last admin key: without one nobody could make another. */
export async function deleteApiKey(db: Db, projectId: string, id: string): Promise<void> {
  if (!isId(id)) throw notFound('API key')
  await db.transaction(async tx => {
    const scopes = await lockScopes(tx, projectId)
    const scope = scopes.get(id.toLowerCase())
    if (!scope) throw notFound('API key')
    const admins = [...scopes.values()].filter(other => other === 'admin').length
    if (scope === 'admin' && admins === 1) throw conflict('this is the last admin key of the project')
    await removeApiKey(tx, projectId, id)
  })
}

/**
 * Finds the caller of a key, remembered for 5 s; `last_used_at` is kept to the minute (decisions 2.1). A key that this
 * process has known is looked up for everybody, others not for a network that has sent too many unknown ones.
 */
export function createAuthenticate(db: Db): Authenticate {
  const remembered = createRecent<{ caller: Caller; untilMs: number }>(CACHE_ENTRIES)
  const lookUpFor = createLookUp({ what: 'API keys', missesPerMinute: UNKNOWN_PER_MINUTE, rememberMs: CACHE_MS })

  return async (key, network) => {
    if (!verifyChecksum(key)) return null
    const keyHash = sha256(key)
    const name = keyHash.toString('base64')
    const known = remembered.get(name)
    if (known && known.untilMs > nowMs()) return known.caller

    const caller = await lookUpFor(network, name, () => lookUp(db, keyHash))
    if (caller) remembered.set(name, { caller, untilMs: nowMs() + CACHE_MS })
    else remembered.delete(name)
    return caller
  }
}

async function lookUp(db: Db, keyHash: Buffer): Promise<Caller | null> {
  const found = await findCaller(db, keyHash)
  if (!found) return null
  const { lastUsedAt, ...caller } = found
  const minute = new Date(Math.floor(nowMs() / 60_000) * 60_000)
  if (lastUsedAt === null || lastUsedAt < minute) await markUsed(db, caller.keyId, minute)
  return caller
}
