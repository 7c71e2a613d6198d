import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { RecordVersion } from '../../foundation/web/conditions/record-version.ts'
import { ON_PAGE } from './page-store.ts'
import type { StoredGroup } from './records.ts'

const GROUPS = `
  SELECT id, page_id AS "pageId", name, description, display_order AS "displayOrder", is_collapsed AS "isCollapsed",
    created_at AS "createdAt", updated_at AS "updatedAt"
  FROM status_page_groups`

export const GROUP_VERSION: RecordVersion = { noun: 'group', table: 'status_page_groups', ...ON_PAGE }

/** One page of a status page's groups in display order, and the total. */
export async function listGroups(
  db: Db,
  pageId: string,
  page: { limit: number; offset: number },
): Promise<{ groups: StoredGroup[]; total: number }> {
  const countSql = 'SELECT count(*) AS total FROM status_page_groups WHERE page_id = ?'
  const [count] = await query<{ total: number }>(db, countSql, [pageId])
  const groups = await query<StoredGroup>(
    db,
    `${GROUPS} WHERE page_id = :pageId ORDER BY display_order, id LIMIT :limit OFFSET :offset`,
    { pageId, ...page },
  )
  return { groups, total: count!.total }
}

/** All groups of a status page in display order. */
export function listPageGroups(db: Db, pageId: string): Promise<StoredGroup[]> {
  return query(db, `${GROUPS} WHERE page_id = ? ORDER BY display_order, id`, [pageId])
}

/** Both ids must be valid. */
export async function findGroup(db: Db, pageId: string, id: string): Promise<StoredGroup | null> {
  return (await query<StoredGroup>(db, `${GROUPS} WHERE page_id = ? AND id = ?`, [pageId, id]))[0] ?? null
}

/** Inserts or updates a group. The caller has locked the page. */
export async function saveGroup(tx: Tx, group: StoredGroup): Promise<void> {
  await execute(
    tx,
    `INSERT INTO status_page_groups (id, page_id, name, description, display_order, is_collapsed, created_at, updated_at)
     VALUES (:id, :pageId, :name, :description, :displayOrder, :isCollapsed, :createdAt, :updatedAt)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
       display_order = excluded.display_order, is_collapsed = excluded.is_collapsed, updated_at = excluded.updated_at`,
    group,
  )
}

/** Its components stay on the page, without a group. False when the page has no such group. */
export async function removeGroup(tx: Tx, pageId: string, id: string): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM status_page_groups WHERE page_id = ? AND id = ?', [pageId, id])) === 1
}
