import { isId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { findPage, lockPage, touchPage } from '../core/page-store.ts'
import type { StoredPage } from '../core/records.ts'

/**
 * Runs a change while the page is locked. Visitors see it after the commit. `now` null: nothing changes. Throws 404.
 */
export function withLockedPage<T>(
  db: Db,
  projectId: string,
  pageId: string,
  now: Date | null,
  change: (tx: Tx, page: StoredPage) => Promise<T>,
): Promise<T> {
  return db.transaction(async tx => {
    const page = found(isId(pageId) && (await lockPage(tx, projectId, pageId)), 'status page')
    const result = await change(tx, page)
    if (now !== null) await touchPage(tx, page.id, now)
    return result
  })
}

/** The stored id of a page of the project. Throws 404. */
export async function getPageId(db: Db, projectId: string, id: string): Promise<string> {
  const page = found(isId(id) && (await findPage(db, projectId, id)), 'status page')
  return page.id
}
