import { now as clock } from '../../platform/clock.ts'
import { newId, randomToken } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import { sha256 } from '../../platform/secrets.ts'
import type { Caller } from '../../web/auth.ts'
import { SCOPE_OF_ROLE } from '../members/role.ts'
import {
  findSession,
  insertSession,
  type ListedSession,
  listSessions,
  markSeen,
  organizationsOf,
  pruneSessions,
  removeOldest,
  type Session,
} from './store.ts'

const DAY_MS = 86_400_000
/** A session ends after so long, */
export const SESSION_MS = 30 * DAY_MS
/** and when nobody was seen in it for so long. */
const IDLE_MS = 7 * DAY_MS
const SEEN_EVERY_MS = 3_600_000
const MOST_SESSIONS = 20

/** A session that was not used since this time has ended. */
export const seenAfter = (now: Date) => new Date(now.getTime() - IDLE_MS)

/** A new session, in the organization that the user joined first. Its token is kept as a hash only. */
export async function openSession(tx: Tx, userId: string): Promise<{ id: string; token: string }> {
  const now = clock()
  const [id, token] = [newId(), randomToken(32)]
  const [first] = await organizationsOf(tx, userId)
  await insertSession(tx, {
    id,
    tokenHash: sha256(token),
    userId,
    organizationId: first?.id ?? null,
    expiresAt: new Date(now.getTime() + SESSION_MS),
    now,
  })
  await removeOldest(tx, userId, MOST_SESSIONS)
  return { id, token }
}

/** Who is signed in by a token; null: nobody. */
export async function readSession(db: Db, token: string | null): Promise<Session | null> {
  if (token === null) return null
  const now = clock()
  const session = await findSession(db, sha256(token), { now, seenAfter: seenAfter(now) })
  if (session && now.getTime() - session.lastSeenAt.getTime() > SEEN_EVERY_MS) await markSeen(db, session.id, now)
  return session
}

/** Where somebody is signed in, seen last first. */
export function sessionsOf(db: Db, userId: string): Promise<ListedSession[]> {
  const now = clock()
  return listSessions(db, userId, { now, seenAfter: seenAfter(now) })
}

/** What somebody who is signed in may do, as a caller of the API; null: they belong to no organization. */
export function callerOfSession(session: Session): Caller | null {
  const { id, userId, email, organizationId, projectId, role, isOperator } = session
  if (organizationId === null || projectId === null || role === null) return null
  return {
    projectId,
    organizationId,
    keyId: id,
    userId,
    scope: SCOPE_OF_ROLE[role],
    isOperator,
    actor: { kind: 'user', id: userId, name: email },
  }
}

export const forgetSessions = (db: Db, now: Date) => pruneSessions(db, { now, seenBefore: seenAfter(now) })
