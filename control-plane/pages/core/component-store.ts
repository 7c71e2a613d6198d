import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { RecordVersion } from '../../foundation/web/conditions/record-version.ts'
import type { OrderedItem } from './display-order.ts'
import { ON_PAGE } from './page-store.ts'
import type { StoredComponent } from './records.ts'

const COMPONENTS = `
  SELECT c.id, c.page_id AS "pageId", c.group_id AS "groupId", c.name, c.description, c.monitor_id AS "monitorId",
    c.display_order AS "displayOrder", c.status, c.created_at AS "createdAt", c.updated_at AS "updatedAt",
    CASE WHEN m.id IS NOT NULL
         THEN jsonb_build_object('id', m.id, 'status', m.status, 'isPaused', m.is_paused,
                                 'changedAt', m.status_changed_at) END AS monitor
  FROM status_page_components c LEFT JOIN monitors m ON m.id = c.monitor_id AND m.deleted_at IS NULL`

export const COMPONENT_VERSION: RecordVersion = { noun: 'component', table: 'status_page_components', ...ON_PAGE }

/** One page of a status page's components in display order, and the total. */
export async function listComponents(
  db: Db,
  pageId: string,
  page: { limit: number; offset: number },
): Promise<{ components: StoredComponent[]; total: number }> {
  const components = await query<StoredComponent>(
    db,
    `${COMPONENTS} WHERE c.page_id = :pageId ORDER BY c.display_order, c.id LIMIT :limit OFFSET :offset`,
    { pageId, ...page },
  )
  const total = await countComponents(db, pageId)
  return { components, total }
}

async function countComponents(db: Db, pageId: string): Promise<number> {
  const sql = 'SELECT count(*) AS total FROM status_page_components WHERE page_id = ?'
  return (await query<{ total: number }>(db, sql, [pageId]))[0]!.total
}

/** All components of a status page in display order. */
export function listPageComponents(db: Db, pageId: string): Promise<StoredComponent[]> {
  return query(db, `${COMPONENTS} WHERE c.page_id = ? ORDER BY c.display_order, c.id`, [pageId])
}

/** Both ids must be valid. */
export async function findComponent(db: Db, pageId: string, id: string): Promise<StoredComponent | null> {
  return (await query<StoredComponent>(db, `${COMPONENTS} WHERE c.page_id = ? AND c.id = ?`, [pageId, id]))[0] ?? null
}

/** Inserts or updates components. The caller has locked the page. */
export async function saveComponents(tx: Tx, components: readonly StoredComponent[]): Promise<void> {
  await execute(
    tx,
    `INSERT INTO status_page_components (id, page_id, group_id, name, description, monitor_id, display_order, status,
       created_at, updated_at)
     SELECT id, "pageId", "groupId", name, description, "monitorId", "displayOrder", status, "createdAt", "updatedAt"
     FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (id uuid, "pageId" uuid, "groupId" uuid, name text,
       description text, "monitorId" uuid, "displayOrder" integer, status text, "createdAt" timestamptz,
       "updatedAt" timestamptz)
     ON CONFLICT (id) DO UPDATE SET group_id = excluded.group_id, name = excluded.name,
       description = excluded.description, monitor_id = excluded.monitor_id, display_order = excluded.display_order,
       status = excluded.status, updated_at = excluded.updated_at`,
    { rows: JSON.stringify(components) },
  )
}

/** False when the page has no such component. */
export async function removeComponent(tx: Tx, pageId: string, id: string): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM status_page_components WHERE page_id = ? AND id = ?', [pageId, id])) === 1
}

/** The positions of all items of a page: groups and components share one order. */
export function listPagePositions(db: Db, pageId: string): Promise<(OrderedItem & { isComponent: boolean })[]> {
  return query(
    db,
    `SELECT id, display_order AS "displayOrder", true AS "isComponent" FROM status_page_components WHERE page_id = :pageId
     UNION ALL
     SELECT id, display_order, false FROM status_page_groups WHERE page_id = :pageId`,
    { pageId },
  )
}

/** Writes the positions of items of a page. */
export async function savePagePositions(tx: Tx, pageId: string, positions: OrderedItem[], now: Date): Promise<void> {
  for (const table of ['status_page_components', 'status_page_groups']) {
    await execute(
      tx,
      `UPDATE ${table} t SET display_order = row."displayOrder", updated_at = :now
       FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (id uuid, "displayOrder" integer)
       WHERE t.id = row.id AND t.page_id = :pageId AND t.display_order <> row."displayOrder"`,
      { pageId, rows: JSON.stringify(positions), now },
    )
  }
}
