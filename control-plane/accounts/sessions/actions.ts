import { sha256 } from '../../foundation/platform/crypto/encryption.ts'
import { newId, randomToken } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../foundation/platform/time/clock.ts'
import type { ApiCaller, AuthenticateSession, SessionRequest } from '../../foundation/web/auth/authentication.ts'
import { getClientNetwork } from '../../foundation/web/limits/client-network.ts'
import { createPublicLookup } from '../../foundation/web/limits/public-lookup.ts'
import { ROLE_SCOPES } from '../members/role.ts'
import { markEntered } from '../members/store.ts'
import { parseSessionToken } from './cookie.ts'
import {
  findSession,
  insertSession,
  type ListedSession,
  listSessions,
  listUserOrganizations,
  markSeen,
  pruneSessions,
  removeOldest,
  type UserSession,
} from './store.ts'

const DAY_MS = 86_400_000
/** A session ends this long after it began. */
export const SESSION_LIFETIME_MS = 30 * DAY_MS
/** A session ends after this time without use. */
const IDLE_TIMEOUT_MS = 7 * DAY_MS
const SEEN_UPDATE_INTERVAL_MS = 3_600_000
const MAX_SESSIONS = 20
const MAX_UNKNOWN_PER_MINUTE = 300
/** An unknown or ended token never becomes valid. */
const UNKNOWN_CACHE_MS = 60_000

/** A session that was last used before this time has ended. */
export const computeIdleCutoff = (now: Date) => new Date(now.getTime() - IDLE_TIMEOUT_MS)

/**
 * Creates a session in the first organization that the user has entered, or in the only one. Of several that the user has not
 * entered, the user chooses at /account. Only a hash of its token is stored.
 */
export async function createSession(tx: Tx, userId: string): Promise<{ id: string; token: string }> {
  const now = clock()
  const [id, token] = [newId(), randomToken(32)]
  const organizations = await listUserOrganizations(tx, userId)
  const opened = organizations.find(one => one.isEntered) ?? (organizations.length === 1 ? organizations[0]! : null)
  if (opened && !opened.isEntered) await markEntered(tx, { organizationId: opened.id, userId }, now)
  await insertSession(tx, {
    id,
    tokenHash: sha256(token),
    userId,
    organizationId: opened?.id ?? null,
    expiresAt: new Date(now.getTime() + SESSION_LIFETIME_MS),
    now,
  })
  await removeOldest(tx, userId, MAX_SESSIONS)
  return { id, token }
}

/** Returns the session of a token, or null. */
export const readSession = (db: Db, token: string): Promise<UserSession | null> =>
  useSession(db, { tokenHash: sha256(token) })

async function useSession(db: Db, which: Parameters<typeof findSession>[1]): Promise<UserSession | null> {
  const now = clock()
  const session = await findSession(db, which, { now, seenAfter: computeIdleCutoff(now) })
  if (session && now.getTime() - session.lastSeenAt.getTime() > SEEN_UPDATE_INTERVAL_MS)
    await markSeen(db, session.id, now)
  return session
}

/** Finds the session of a request by its cookie, or null. Throws 429 for a network that sent too many unknown tokens. */
export type FindSession = (request: SessionRequest) => Promise<UserSession | null>

/**
 * Finds the sessions of requests (docs/design/accounts.md#sessions). A network that sent too many unknown tokens is refused,
 * except with tokens that this process has found before.
 */
export function createSessionFinder(db: Db): FindSession {
  const lookUp = createPublicLookup({
    what: 'sessions',
    missesPerMinute: MAX_UNKNOWN_PER_MINUTE,
    rememberMs: UNKNOWN_CACHE_MS,
  })
  return async request => {
    const token = parseSessionToken(request.headers.cookie)
    if (token === null) return null
    return lookUp(getClientNetwork(request), sha256(token).toString('base64'), () => readSession(db, token))
  }
}

/** Lists a user's sessions, the last used first. */
export function listUserSessions(db: Db, userId: string): Promise<ListedSession[]> {
  const now = clock()
  return listSessions(db, userId, { now, seenAfter: computeIdleCutoff(now) })
}

/** Converts a session to a caller of the API. Returns null for a user without an organization. */
export function toSessionCaller(session: UserSession): ApiCaller | null {
  const { id, userId, email, organizationId, projectId, role, isOperator } = session
  if (organizationId === null || projectId === null || role === null) return null
  return {
    projectId,
    organizationId,
    keyId: id,
    userId,
    scope: ROLE_SCOPES[role],
    isOperator,
    actor: { kind: 'user', id: userId, name: email },
  }
}

/** Finds the caller of a session for the session bridge. A session that has ended stops working at once. */
export const createSessionAuthenticator =
  (find: FindSession): AuthenticateSession =>
  async request => {
    const session = await find(request)
    return session && (toSessionCaller(session) ?? 'no_organization')
  }

/** Reads the caller of a session again. Returns null when the session has ended or has no access to an organization. */
export async function reloadSessionCaller(db: Db, sessionId: string): Promise<ApiCaller | null> {
  const session = await useSession(db, { id: sessionId })
  return session && toSessionCaller(session)
}

export const pruneEndedSessions = (db: Db, now: Date) => pruneSessions(db, { now, seenBefore: computeIdleCutoff(now) })
