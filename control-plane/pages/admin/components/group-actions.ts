import { isId, newId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { conflict, found, notFound } from '../../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../../foundation/web/validation/empty-update.ts'
import { listPagePositions } from '../../core/component-store.ts'
import { getNextDisplayOrder } from '../../core/display-order.ts'
import { findGroup, removeGroup, saveGroup } from '../../core/group-store.ts'
import type { StoredGroup } from '../../core/records.ts'
import { withLockedPage } from '../page-lock-actions.ts'
import type { GroupCreate, GroupUpdate } from '../schema.ts'

const MAX_GROUPS = 100

/** Creates a group on a page. Throws 404, and 409 when the page has the maximum number of groups. */
export function createGroup(
  db: Db,
  projectId: string,
  pageId: string,
  body: GroupCreate,
  now: Date,
): Promise<StoredGroup> {
  return withLockedPage(db, projectId, pageId, now, async (tx, page) => {
    const positions = await listPagePositions(tx, page.id)
    if (positions.filter(({ isComponent }) => !isComponent).length >= MAX_GROUPS) {
      throw conflict(`a status page can have at most ${MAX_GROUPS} groups`)
    }
    const group = {
      id: newId(),
      pageId: page.id,
      name: body.name,
      description: body.description ?? null,
      displayOrder: body.display_order ?? getNextDisplayOrder(positions),
      isCollapsed: body.is_collapsed ?? false,
      createdAt: now,
      updatedAt: now,
    }
    await saveGroup(tx, group)
    return group
  })
}

/** Changes the fields that the body contains. Throws 404. */
export function changeGroup(
  db: Db,
  projectId: string,
  pageId: string,
  id: string,
  body: GroupUpdate,
  now: Date,
): Promise<StoredGroup> {
  return withLockedPage(db, projectId, pageId, isEmptyUpdate(body) ? null : now, async (tx, page) => {
    const before = found(isId(id) && (await findGroup(tx, page.id, id)), 'group')
    if (isEmptyUpdate(body)) return before
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

/** Deletes a group. Its components stay on the page, without a group. Throws 404. */
export function deleteGroup(db: Db, projectId: string, pageId: string, id: string, now: Date): Promise<void> {
  return withLockedPage(db, projectId, pageId, now, async (tx, page) => {
    if (!isId(id) || !(await removeGroup(tx, page.id, id))) throw notFound('group')
  })
}
