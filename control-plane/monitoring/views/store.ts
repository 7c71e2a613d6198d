import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { RecordVersion } from '../../foundation/web/conditions/record-version.ts'

/** A saved filter of the list of monitors. `userId` null: shared with all members. */
export type StoredView = {
  id: string
  projectId: string
  userId: string | null
  name: string
  query: string
  createdAt: Date
  updatedAt: Date
}

/** Whose views: those of the project that are shared, and those of the person. `userId` null: the shared ones only. */
export type ViewOwner = { projectId: string; userId: string | null }

const COLUMNS = `id, project_id AS "projectId", user_id AS "userId", name, query, created_at AS "createdAt",
  updated_at AS "updatedAt"`
const VISIBLE = 'project_id = :projectId AND (user_id IS NULL OR user_id = :userId)'

export const VIEW_VERSION: RecordVersion = {
  noun: 'view',
  table: 'saved_views',
  // a personal view of another person is 404
  isCheckedByAction: true,
}

/** One page of the views that a caller sees, by name, and their total number. */
export async function listViews(
  db: Db,
  owner: ViewOwner,
  page: { limit: number; offset: number },
): Promise<{ views: StoredView[]; total: number }> {
  const [count] = await query<{ total: number }>(
    db,
    `SELECT count(*) AS total FROM saved_views WHERE ${VISIBLE}`,
    owner,
  )
  const views = await query<StoredView>(
    db,
    `SELECT ${COLUMNS} FROM saved_views WHERE ${VISIBLE} ORDER BY lower(name), id LIMIT :limit OFFSET :offset`,
    { ...owner, ...page },
  )
  return { views, total: count?.total ?? 0 }
}

/** A view that the caller sees. `id` has to be a valid id. */
export async function findView(db: Db, owner: ViewOwner, id: string): Promise<StoredView | null> {
  const sql = `SELECT ${COLUMNS} FROM saved_views WHERE ${VISIBLE} AND id = :id`
  return (await query<StoredView>(db, sql, { ...owner, id }))[0] ?? null
}

/** The same, locked until the transaction ends. */
export async function lockView(tx: Tx, owner: ViewOwner, id: string): Promise<StoredView | null> {
  const sql = `SELECT ${COLUMNS} FROM saved_views WHERE ${VISIBLE} AND id = :id FOR UPDATE`
  return (await query<StoredView>(tx, sql, { ...owner, id }))[0] ?? null
}

/** Counts the views of one owner, and lets other transactions that add views wait until this one ends. */
export async function lockViewCount(tx: Tx, { projectId, userId }: ViewOwner): Promise<number> {
  await execute(tx, 'SELECT 1 FROM projects WHERE id = ? FOR NO KEY UPDATE', [projectId])
  const [row] = await query<{ total: number }>(
    tx,
    'SELECT count(*) AS total FROM saved_views WHERE project_id = :projectId AND user_id IS NOT DISTINCT FROM :userId',
    { projectId, userId },
  )
  return row?.total ?? 0
}

/** Inserts or updates a view. Throws a unique violation when the owner has another view with this name. */
export async function saveView(tx: Tx, view: StoredView): Promise<void> {
  await execute(
    tx,
    `INSERT INTO saved_views (id, project_id, user_id, name, query, created_at, updated_at)
     VALUES (:id, :projectId, :userId, :name, :query, :createdAt, :updatedAt)
     ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, name = excluded.name, query = excluded.query,
       updated_at = excluded.updated_at`,
    view,
  )
}

export async function removeView(tx: Tx, id: string): Promise<void> {
  await execute(tx, 'DELETE FROM saved_views WHERE id = ?', [id])
}
