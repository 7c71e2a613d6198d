import { now as clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import { conflict, notFound } from '../../web/errors.ts'
import { createApiKey } from '../api-keys/actions.ts'
import { actingAsPerson, type Person, recordAct } from '../audit/actions.ts'
import { dismissIn } from '../members/actions.ts'
import { lockOrganization } from '../members/store.ts'
import type { Dead } from '../password-links/link.ts'
import type { LinkOwner } from '../password-links/store.ts'
import { seenAfter } from '../sessions/actions.ts'
import type { Session } from '../sessions/store.ts'
import type { Choice, Kind } from './choice.ts'
import {
  type Decided,
  firstProject,
  releaseKeys,
  releaseMembers,
  releaseSessions,
  removeKeys,
  removeSessions,
  suspendedMembers,
  type Which,
} from './decision-store.ts'
import {
  findReviews,
  listKeys,
  listMembers,
  listSessions,
  lockFounded,
  type Review,
  restoreFounder,
  suspendAll,
} from './store.ts'

/**
 * The organizations that anybody may have founded in the name of the owner of a link, if it is the first mailed one. Locked,
 * so that a key or a member is there before they are suspended, or is made by a person who is not suspended.
 */
export const holdFounded = (tx: Tx, owner: LinkOwner | Dead): Promise<string[]> =>
  typeof owner !== 'string' && owner.opensReview ? lockFounded(tx, owner.userId) : Promise.resolve([])

/**
 * Suspends all keys, and the sessions and members but for the owner, until the owner has decided about each. The owner is an
 * admin for that, also when others took the role away.
 */
export async function suspendOthers(tx: Tx, owner: Person, ip: string, organizationIds: string[]): Promise<void> {
  for (const organizationId of organizationIds) {
    await actingAsPerson(tx, owner, ip, organizationId).transaction(async acting => {
      await restoreFounder(acting, { organizationId, userId: owner.id })
      await suspendAll(acting, { organizationId, userId: owner.id, now: clock() })
    })
  }
}

type Viewer = Pick<Session, 'id' | 'userId' | 'email'>

const times = () => {
  const now = clock()
  return { now, seenAfter: seenAfter(now) }
}

/** What a person who is signed in has to decide as an admin; null: nothing. */
export async function reviewOf(db: Db, { id }: Viewer): Promise<Review | null> {
  const [review] = await findReviews(db, id, times())
  return review ?? null
}

/** As many of a kind as one page shows; after a decision it shows the next ones. */
const SHOWN = 100

export async function suspendedIn(db: Db, organizationId: string) {
  const asked = { organizationId, limit: SHOWN, ...times() }
  const [keys, members, sessions] = await Promise.all([
    listKeys(db, asked),
    listMembers(db, asked),
    listSessions(db, asked),
  ])
  return { keys, members, sessions }
}
export type Suspended = Awaited<ReturnType<typeof suspendedIn>>

/** Keeps or ends what is suspended, as the API would. Throws 404 for a person who has nothing to decide there. */
export async function decide(
  db: Db,
  viewer: Viewer,
  ip: string,
  { organizationId, kinds, id, keeps }: Choice,
): Promise<void> {
  await inReview(db, viewer, ip, organizationId, async tx => {
    for (const kind of kinds) await (keeps ? KEEP : END)[kind](tx, { organizationId, id })
  })
}

type Decisions = Record<Kind, (tx: Tx, which: Which) => Promise<unknown>>

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
  key: removeKeys,
  member: async (tx, which) => {
    for (const userId of await suspendedMembers(tx, which)) await dismissIn(tx, which.organizationId, userId)
  },
  session: async (tx, which) => {
    for (const session of await removeSessions(tx, which)) {
      await recordSession(tx, session, 'signed_out', { session: { from: session.id, to: null } })
    }
  },
}

type SessionAct = 'updated' | 'signed_out'

const recordSession = (
  tx: Tx,
  { userId, email }: Decided,
  action: SessionAct,
  changes: Record<string, { from: unknown; to: unknown }>,
) => recordAct(tx, { action, resource: 'user', resourceId: userId, resourceName: email, changes })

/** An admin key for an organization in which none works. Throws 404 like `decide`, and 409 when there is one. */
export function makeAdminKey(db: Db, viewer: Viewer, ip: string, organizationId: string): Promise<{ key: string }> {
  return inReview(db, viewer, ip, organizationId, async (tx, { lacksKey }) => {
    if (!lacksKey) throw conflict('this organization has an admin key that works')
    const owner = { projectId: await firstProject(tx, organizationId), userId: viewer.userId }
    return createApiKey(tx, owner, { name: `Made by ${viewer.email}`.slice(0, 100), scope: 'admin' })
  })
}

function inReview<T>(
  db: Db,
  { id, userId, email }: Viewer,
  ip: string,
  organizationId: string,
  work: (tx: Tx, review: Review) => Promise<T>,
): Promise<T> {
  return actingAsPerson(db, { id: userId, email }, ip, organizationId).transaction(async tx => {
    await lockOrganization(tx, organizationId)
    const review = (await findReviews(tx, id, times())).find(one => one.organizationId === organizationId)
    if (!review) throw notFound('review')
    return work(tx, review)
  })
}
