import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../foundation/platform/time/clock.ts'
import { conflict, notFound } from '../../foundation/web/server/errors.ts'
import { createApiKey } from '../api-keys/actions.ts'
import { recordAudit, type UserIdentity, withUserActor } from '../audit/actions.ts'
import { endMembershipInTransaction } from '../members/actions.ts'
import { lockOrganization } from '../members/store.ts'
import { computeIdleCutoff } from '../sessions/actions.ts'
import type { UserSession } from '../sessions/store.ts'
import type { LinkProblem } from '../sign-in/password-links/link.ts'
import type { PasswordLinkOwner } from '../sign-in/password-links/store.ts'
import type { AccessDecision, AccessKind } from './decision.ts'
import {
  type DecidedSession,
  getFirstProjectId,
  listSuspendedMemberIds,
  releaseKeys,
  releaseMembers,
  releaseSessions,
  removeSuspendedKeys,
  removeSuspendedSessions,
  type SuspendedSelector,
} from './decision-store.ts'
import {
  type AccessReview,
  listReviews,
  listSuspendedKeys,
  listSuspendedMembers,
  listSuspendedSessions,
  lockFoundedOrganizations,
  restoreFounder,
  suspendAll,
} from './store.ts'

/**
 * Returns and locks the organizations that another person may have founded with the address of the link's owner; none unless
 * this is the first mailed link that proves the address. With the lock, a new key or member either exists before the suspension
 * or is created by a caller who is not suspended.
 */
export const lockOrganizationsToReview = (tx: Tx, owner: PasswordLinkOwner | LinkProblem): Promise<string[]> =>
  typeof owner !== 'string' && owner.opensReview ? lockFoundedOrganizations(tx, owner.userId) : Promise.resolve([])

/**
 * Suspends all keys, and the sessions and memberships of everyone but the owner, until the owner keeps or ends each
 * (docs/design/accounts.md#access-review). The owner becomes an admin again if that role was taken away.
 */
export async function suspendOthers(tx: Tx, owner: UserIdentity, ip: string, organizationIds: string[]): Promise<void> {
  for (const organizationId of organizationIds) {
    await withUserActor(tx, owner, ip, organizationId).transaction(async acting => {
      await restoreFounder(acting, { organizationId, userId: owner.id })
      await suspendAll(acting, { organizationId, userId: owner.id, now: clock() })
    })
  }
}

type Viewer = Pick<UserSession, 'id' | 'userId' | 'email'>

const computeSessionTimes = () => {
  const now = clock()
  return { now, seenAfter: computeIdleCutoff(now) }
}

/** Returns the first review that a signed-in admin has to decide, or null. */
export async function findReview(db: Db, { id }: Viewer): Promise<AccessReview | null> {
  const [review] = await listReviews(db, id, computeSessionTimes())
  return review ?? null
}

/** How many of each kind one page shows. After a decision it shows the next ones. */
const MAX_SHOWN = 100

export async function listSuspendedAccess(db: Db, organizationId: string) {
  const filter = { organizationId, limit: MAX_SHOWN, ...computeSessionTimes() }
  const [keys, members, sessions] = await Promise.all([
    listSuspendedKeys(db, filter),
    listSuspendedMembers(db, filter),
    listSuspendedSessions(db, filter),
  ])
  return { keys, members, sessions }
}
export type SuspendedAccess = Awaited<ReturnType<typeof listSuspendedAccess>>

/** Keeps or ends suspended keys, members or sessions. Throws 404 for a viewer who has no review there. */
export async function applyDecision(
  db: Db,
  viewer: Viewer,
  ip: string,
  { organizationId, kinds, id, keeps }: AccessDecision,
): Promise<void> {
  await withReview(db, viewer, ip, organizationId, async tx => {
    for (const kind of kinds) await (keeps ? KEEP : END)[kind](tx, { organizationId, id })
  })
}

type Decisions = Record<AccessKind, (tx: Tx, which: SuspendedSelector) => Promise<unknown>>

const KEEP: Decisions = {
  key: (tx, which) => releaseKeys(tx, { ...which, now: clock() }),
  member: releaseMembers,
  session: async (tx, which) => {
    for (const session of await releaseSessions(tx, which)) {
      await recordSession(tx, session, 'updated', { suspended_session: { from: session.id, to: null } })
    }
  },
}

const END: Decisions = {
  key: removeSuspendedKeys,
  member: async (tx, which) => {
    for (const userId of await listSuspendedMemberIds(tx, which))
      await endMembershipInTransaction(tx, which.organizationId, userId)
  },
  session: async (tx, which) => {
    for (const session of await removeSuspendedSessions(tx, which)) {
      await recordSession(tx, session, 'signed_out', { session: { from: session.id, to: null } })
    }
  },
}

type SessionAct = 'updated' | 'signed_out'

const recordSession = (
  tx: Tx,
  { userId, email }: DecidedSession,
  action: SessionAct,
  changes: Record<string, { from: unknown; to: unknown }>,
) => recordAudit(tx, { action, resource: 'user', resourceId: userId, resourceName: email, changes })

/** Creates an admin key for an organization in which none works. Throws 404 like `applyDecision`, and 409 when one works. */
export function makeAdminKey(db: Db, viewer: Viewer, ip: string, organizationId: string): Promise<{ key: string }> {
  return withReview(db, viewer, ip, organizationId, async (tx, { lacksKey }) => {
    if (!lacksKey) throw conflict('this organization already has an admin key that works')
    const owner = { projectId: await getFirstProjectId(tx, organizationId), userId: viewer.userId }
    return createApiKey(tx, owner, { name: `Created by ${viewer.email}`.slice(0, 100), scope: 'admin' })
  })
}

function withReview<T>(
  db: Db,
  { id, userId, email }: Viewer,
  ip: string,
  organizationId: string,
  work: (tx: Tx, review: AccessReview) => Promise<T>,
): Promise<T> {
  return withUserActor(db, { id: userId, email }, ip, organizationId).transaction(async tx => {
    await lockOrganization(tx, organizationId)
    const review = (await listReviews(tx, id, computeSessionTimes())).find(one => one.organizationId === organizationId)
    if (!review) throw notFound('review')
    return work(tx, review)
  })
}
