import { isId, newId } from '../../foundation/platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../../foundation/platform/postgres/client.ts'
import { type ApiCaller, hasScope, SCOPE_ROLES } from '../../foundation/web/auth/authentication.ts'
import { assertRequestVersion } from '../../foundation/web/conditions/version-actions.ts'
import { conflict, found, insufficientScope, validationError } from '../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../foundation/web/validation/empty-update.ts'
import type { ViewCreate, ViewUpdate } from './schema.ts'
import { findView, lockView, lockViewCount, removeView, type StoredView, saveView, type ViewOwner } from './store.ts'

const MAX_SHARED = 200
const MAX_PERSONAL = 50

/** The person who is signed in; null for an API key. */
const getPersonId = ({ actor }: ApiCaller): string | null => (actor.kind === 'user' ? actor.id : null)

/** Whose views a caller sees. */
export const getViewOwner = (caller: ApiCaller): ViewOwner => ({
  projectId: caller.projectId,
  userId: getPersonId(caller),
})

/** Throws 404 for a view that the caller does not see. */
export async function readView(db: Db, caller: ApiCaller, id: string): Promise<StoredView> {
  return found(isId(id) && (await findView(db, getViewOwner(caller), id)), 'view')
}

/** Throws 400 for a personal view of an API key, 403 for a viewer who shares, 409 for a name in use or too many views. */
export function createView(db: Db, caller: ApiCaller, body: ViewCreate, now: Date): Promise<StoredView> {
  const view: StoredView = {
    ...{ id: newId(), projectId: caller.projectId, name: body.name, query: body.query, createdAt: now, updatedAt: now },
    userId: chooseOwner(caller, body.is_shared ?? getPersonId(caller) === null),
  }
  return db.transaction(async tx => {
    await assertRoom(tx, view)
    return save(tx, view)
  })
}

/** Changes the fields that the body contains. Throws the same errors as `createView`, and 404. */
export function changeView(db: Db, caller: ApiCaller, id: string, body: ViewUpdate, now: Date): Promise<StoredView> {
  return db.transaction(async tx => {
    const before = await lockOwnView(tx, caller, id)
    if (isEmptyUpdate(body)) return before
    const userId = body.is_shared === undefined ? before.userId : chooseOwner(caller, body.is_shared)
    const view = { ...before, ...pickTexts(body), userId, updatedAt: now }
    if (userId !== before.userId) await assertRoom(tx, view)
    return save(tx, view)
  })
}

/** Throws 404, and 403 for a viewer and a shared view. */
export function deleteView(db: Db, caller: ApiCaller, id: string): Promise<void> {
  return db.transaction(async tx => removeView(tx, (await lockOwnView(tx, caller, id)).id))
}

const pickTexts = ({ name, query }: ViewUpdate) => ({
  ...(name !== undefined && { name }),
  ...(query !== undefined && { query }),
})

async function lockOwnView(tx: Tx, caller: ApiCaller, id: string): Promise<StoredView> {
  const view = found(isId(id) && (await lockView(tx, getViewOwner(caller), id)), 'view')
  if (view.userId === null) assertMayShare(caller)
  await assertRequestVersion(tx)
  return view
}

function chooseOwner(caller: ApiCaller, isShared: boolean): string | null {
  if (isShared) {
    assertMayShare(caller)
    return null
  }
  const userId = getPersonId(caller)
  if (userId !== null) return userId
  const message = 'is_shared must be true or omitted: an API key has no personal views'
  throw validationError([{ path: 'is_shared', message }])
}

function assertMayShare(caller: ApiCaller): void {
  if (hasScope(caller, 'write')) return
  throw insufficientScope(
    `shared views need the role ${SCOPE_ROLES.write}; your role is ${SCOPE_ROLES[caller.scope]}, which can keep personal views`,
  )
}

async function assertRoom(tx: Tx, owner: ViewOwner): Promise<void> {
  const max = owner.userId === null ? MAX_SHARED : MAX_PERSONAL
  if ((await lockViewCount(tx, owner)) < max) return
  throw conflict(
    owner.userId === null
      ? `a project can have at most ${max} shared views`
      : `a person can have at most ${max} personal views`,
  )
}

async function save(tx: Tx, view: StoredView): Promise<StoredView> {
  try {
    await saveView(tx, view)
    return view
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict(`a ${view.userId === null ? 'shared' : 'personal'} view with this name exists`)
  }
}
