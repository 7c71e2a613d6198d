import { createLruCache } from '../../../shared/lru-cache.ts'
import { sha256 } from '../../foundation/platform/crypto/encryption.ts'
import { isId, newId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { monotonicMs, now, nowMs } from '../../foundation/platform/time/clock.ts'
import { formatKeyHint, generateApiKey, hasValidChecksum } from '../../foundation/web/auth/api-key.ts'
import {
  type ApiCaller,
  type Authenticate,
  buildRoleError,
  hasScope,
  type ReadCaller,
  type Scope,
} from '../../foundation/web/auth/authentication.ts'
import { createMissCounter } from '../../foundation/web/limits/miss-counter.ts'
import { createPublicLookup } from '../../foundation/web/limits/public-lookup.ts'
import { apiKeySuspended, conflict, notFound, unauthorized } from '../../foundation/web/server/errors.ts'
import { type MemberRole, ROLE_SCOPES } from '../members/role.ts'
import { findActiveRole, lockOrganization } from '../members/store.ts'
import { assertWithinLimit } from '../plans/actions.ts'
import type { InstallationLimits } from '../plans/plans.ts'
import { reloadSessionCaller } from '../sessions/actions.ts'
import { findSessionRole } from '../sessions/store.ts'
import { findCaller, insertApiKey, lockApiKeyForShare, lockKeys, markUsed, removeApiKey } from './store.ts'

/** A deleted or suspended key stops working in this process within this time. */
const CACHE_TTL_MS = 5_000
const MAX_CACHED_KEYS = 10_000
/** A program that continues to use a deleted key causes 12 queries a minute. */
const MAX_UNKNOWN_PER_MINUTE = 300
/** Queries for a suspended key before its state is cached, so that a key that an admin keeps works without delay. */
const MAX_SUSPENDED_PER_MINUTE = 60

/** Creates a key. Only this result contains the full `key`. */
export async function createApiKey(
  db: Db | Tx,
  owner: { projectId: string; userId: string | null },
  { name, scope }: { name: string; scope: Scope },
) {
  const key = generateApiKey()
  const row = await insertApiKey(db, {
    id: newId(),
    projectId: owner.projectId,
    createdBy: owner.userId,
    name,
    scope,
    keyHash: sha256(key),
    hint: formatKeyHint(key),
    now: now(),
  })
  return { ...row, key }
}

/**
 * Creates a key for a caller that uses another key. The lock orders this with an access review: the new key exists before the
 * organization's keys are suspended and is suspended too, or the caller's key is checked afterwards. Throws 402 above the
 * plan's limit.
 */
export function createKeyAs(
  db: Db,
  caller: ApiCaller,
  named: { name: string; scope: Scope },
  limits: InstallationLimits,
) {
  return db.transaction(async tx => {
    await lockOrganization(tx, caller.organizationId)
    await assertCallerWorks(tx, caller, 'admin')
    await assertWithinLimit(tx, caller.organizationId, 'apiKeys', 1, limits)
    return createApiKey(tx, caller, named)
  })
}

/**
 * Throws 401 for a deleted or suspended key, even while it is cached, and for a session that has ended; 403 for a person
 * whose role was lowered below the needed scope. For acts whose results outlive the key or the session. Lock the
 * organization first.
 */
export async function assertCallerWorks(
  tx: Tx,
  caller: Pick<ApiCaller, 'keyId' | 'actor' | 'organizationId'>,
  needed: Scope,
): Promise<void> {
  // the scope of a key does not change
  if (caller.actor.kind !== 'user') return assertKeyWorks(tx, caller.keyId)
  const role = await findSessionRole(tx, caller.keyId, caller.organizationId)
  if (role === null) throw unauthorized('the session has ended; sign in again')
  assertRole(role, needed)
}

function assertRole(role: MemberRole, needed: Scope): void {
  const scope = ROLE_SCOPES[role]
  if (!hasScope({ scope }, needed)) throw buildRoleError(scope, needed)
}

async function assertKeyWorks(db: Db, keyId: string): Promise<void> {
  const key = await lockApiKeyForShare(db, keyId)
  if (!key) throw unauthorized('the API key is not valid')
  if (key.isSuspended) throw apiKeySuspended()
}

/**
 * The same at the end of work that takes long: a person may have signed out meanwhile, but must still be a member. Locks the
 * organization.
 */
export async function assertCallerHasAccess(tx: Tx, caller: ApiCaller, needed: Scope): Promise<void> {
  await lockOrganization(tx, caller.organizationId)
  await assertStillHasAccess(tx, caller, needed)
}

/** The same between two parts of long work, without a lock: what is taken away meanwhile is noticed before the next part. */
export async function assertStillHasAccess(
  db: Db,
  { actor, keyId, organizationId }: ApiCaller,
  needed: Scope,
): Promise<void> {
  if (actor.kind !== 'user') return assertKeyWorks(db, keyId)
  const role = await findActiveRole(db, organizationId, actor.id!)
  if (role === null) throw unauthorized('you are no longer a member of the organization')
  assertRole(role, needed)
}

/** Reads the caller again, by the id of its key or session: without a cache, and without the limits of unknown keys. */
export const createCallerReader =
  (db: Db): ReadCaller =>
  ({ actor, keyId }) =>
    actor.kind === 'user' ? reloadSessionCaller(db, keyId) : reloadKeyCaller(db, keyId)

async function reloadKeyCaller(db: Db, id: string): Promise<ApiCaller | null> {
  const caller = await loadCaller(db, { id })
  return caller === 'suspended' ? null : caller
}

/** Throws 404, and 409 for the last admin key that works: without one, no other key can be created. */
export async function deleteApiKey(db: Db, projectId: string, id: string): Promise<void> {
  if (!isId(id)) throw notFound('API key')
  await db.transaction(async tx => {
    const keys = await lockKeys(tx, projectId)
    const key = keys.find(one => one.id === id.toLowerCase())
    if (!key) throw notFound('API key')
    const admins = keys.filter(({ scope, isSuspended }) => scope === 'admin' && !isSuspended)
    if (admins.length === 1 && admins[0] === key)
      throw conflict('the last admin key of a project cannot be deleted; create another one first')
    await removeApiKey(tx, projectId, id)
  })
}

/**
 * Finds the caller of a key and caches it for 5 s; `last_used_at` is kept to the minute (docs/design/accounts.md#api-keys). A
 * network that has sent too many unknown keys is refused, except for keys that this process has known.
 */
export function createAuthenticator(db: Db): Authenticate {
  const remembered = createLruCache<{ caller: ApiCaller | 'suspended'; untilMs: number }>(MAX_CACHED_KEYS)
  const suspended = createMissCounter(MAX_SUSPENDED_PER_MINUTE)
  const lookUpFor = createPublicLookup({
    what: 'API keys',
    missesPerMinute: MAX_UNKNOWN_PER_MINUTE,
    rememberMs: CACHE_TTL_MS,
  })

  return async (key, network) => {
    if (!hasValidChecksum(key)) return null
    const keyHash = sha256(key)
    const name = keyHash.toString('base64')
    const known = remembered.get(name)
    if (known && known.untilMs > monotonicMs()) return known.caller

    const found = await lookUpFor(network, name, async () => {
      // before the query: its answer may be old when it arrives
      const untilMs = monotonicMs() + CACHE_TTL_MS
      const caller = await loadCaller(db, { keyHash })
      return caller && { caller, untilMs }
    })
    const caller = found?.caller ?? null
    const isKept = caller === 'suspended' ? suspended.waitSeconds(name, nowMs()) > 0 : caller !== null
    if (caller === 'suspended') suspended.count(name, nowMs())
    if (found && isKept) remembered.set(name, found)
    else remembered.delete(name)
    return caller
  }
}

async function loadCaller(db: Db, which: Parameters<typeof findCaller>[1]): Promise<ApiCaller | 'suspended' | null> {
  const found = await findCaller(db, which)
  if (!found) return null
  const { lastUsedAt, isSuspended, ...caller } = found
  if (isSuspended) return 'suspended'
  const minute = new Date(Math.floor(nowMs() / 60_000) * 60_000)
  if (lastUsedAt === null || lastUsedAt < minute) await markUsed(db, caller.keyId, minute)
  return caller
}
