import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'

export type StoredWallLink = {
  id: string
  name: string
  query: string
  lastUsedAt: Date | null
  createdAt: Date
}

const COLUMNS = 'id, name, query, last_used_at AS "lastUsedAt", created_at AS "createdAt"'

/** One page of the links of a project, newest first, and their total number. */
export async function listWallLinks(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<{ links: StoredWallLink[]; total: number }> {
  const [count] = await query<{ total: number }>(db, 'SELECT count(*) AS total FROM wall_links WHERE project_id = ?', [
    projectId,
  ])
  const links = await query<StoredWallLink>(
    db,
    `SELECT ${COLUMNS} FROM wall_links WHERE project_id = :projectId ORDER BY id DESC LIMIT :limit OFFSET :offset`,
    { projectId, ...page },
  )
  return { links, total: count?.total ?? 0 }
}

/** Counts the links of a project. Other transactions that add links wait until this one ends. */
export async function lockWallLinkCount(tx: Tx, projectId: string): Promise<number> {
  await execute(tx, 'SELECT 1 FROM projects WHERE id = ? FOR NO KEY UPDATE', [projectId])
  const [row] = await query<{ total: number }>(tx, 'SELECT count(*) AS total FROM wall_links WHERE project_id = ?', [
    projectId,
  ])
  return row?.total ?? 0
}

export async function insertWallLink(
  tx: Tx,
  link: Omit<StoredWallLink, 'lastUsedAt'> & { projectId: string; tokenHash: Buffer },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO wall_links (id, project_id, name, query, token_hash, created_at, updated_at)
     VALUES (:id, :projectId, :name, :query, :tokenHash, :createdAt, :createdAt)`,
    link,
  )
}

/** Returns whether the project had the link. */
export const removeWallLink = async (db: Db, projectId: string, id: string): Promise<boolean> =>
  (await execute(db, 'DELETE FROM wall_links WHERE project_id = ? AND id = ?', [projectId, id])) > 0

export type ActiveWallLink = Pick<StoredWallLink, 'id' | 'name' | 'query' | 'lastUsedAt'> & { projectId: string }

/** Finds the link with a token by its SHA-256. Returns null also for a link of a deleted organization. */
export async function findWallLink(db: Db, tokenHash: Buffer): Promise<ActiveWallLink | null> {
  const [row] = await query<ActiveWallLink>(
    db,
    `SELECT l.id, l.name, l.query, l.last_used_at AS "lastUsedAt", l.project_id AS "projectId"
     FROM wall_links l JOIN projects p ON p.id = l.project_id JOIN organizations o ON o.id = p.organization_id
     WHERE l.token_hash = ? AND o.deleted_at IS NULL`,
    [tokenHash],
  )
  return row ?? null
}

export const markWallLinkUsed = (db: Db, id: string, minute: Date) =>
  execute(
    db,
    'UPDATE wall_links SET last_used_at = :minute WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :minute)',
    { id, minute },
  )
