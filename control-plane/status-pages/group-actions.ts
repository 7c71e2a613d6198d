import { isId, newId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { conflict, notFound } from '../web/errors.ts'
import { namesNothing } from '../web/names-nothing.ts'
import { placesOf } from './component-store.ts'
import { findGroup, removeGroup, saveGroup } from './group-store.ts'
import { inPage } from './hold-actions.ts'
import { placeAtEnd } from './order.ts'
import type { StoredGroup } from './records.ts'
import type { GroupCreate, GroupUpdate } from './schema.ts'

const MOST_GROUPS = 100

/** Makes a group on a page. Throws 404, and 409 when the page has as many as it may. */
export function createGroup(
  db: Db,
  projectId: string,
  pageId: string,
  body: GroupCreate,
  now: Date,
): Promise<StoredGroup> {
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    const places = await placesOf(tx, page.id)
    if (places.filter(({ isComponent }) => !isComponent).length >= MOST_GROUPS) {
      throw conflict(`a status page has at most ${MOST_GROUPS} groups`)
    }
    const group = {
      id: newId(),
      pageId: page.id,
      name: body.name,
      description: body.description ?? null,
      displayOrder: body.display_order ?? placeAtEnd(places),
      isCollapsed: body.is_collapsed ?? false,
      createdAt: now,
      updatedAt: now,
    }
    await saveGroup(tx, group)
    return group
  })
}

/** Changes what the body names. Throws 404. */
export function changeGroup(
  db: Db,
  projectId: string,
  pageId: string,
  id: string,
  body: GroupUpdate,
  now: Date,
): Promise<StoredGroup> {
  return inPage(db, projectId, pageId, namesNothing(body) ? null : now, async (tx, page) => {
    const before = isId(id) ? await findGroup(tx, page.id, id) : null
    if (!before) throw notFound('group')
    if (namesNothing(body)) return before
    const group = {
      ...before,
      name: body.name ?? before.name,
      description: body.description ?? before.description,
      displayOrder: body.display_order ?? before.displayOrder,
      isCollapsed: body.is_collapsed ?? before.isCollapsed,
      updatedAt: now,
    }
    await saveGroup(tx, group)
    return group
  })
}

/** Deletes a group; its components stay, on the page itself. Throws 404. */
export function deleteGroup(db: Db, projectId: string, pageId: string, id: string, now: Date): Promise<void> {
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    if (!isId(id) || !(await removeGroup(tx, page.id, id))) throw notFound('group')
  })
}
