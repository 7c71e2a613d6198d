import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { RecordVersion } from '../../../foundation/web/conditions/record-version.ts'
import type { Dependency } from '../types.ts'
import type { DependencyWithFeed } from './response.ts'

const COLUMNS = `
  d.id, d.project_id AS "projectId", d.feed_id AS "feedId", d.slug, d.name, d.category, d.status_url AS "statusUrl",
  d.feed_url AS "feedUrl", d.feed_type AS "feedType", d.feed_mapping AS "feedMapping", d.components,
  d.is_baselined AS "isBaselined", d.created_at AS "createdAt", d.updated_at AS "updatedAt"`

const COLUMNS_WITH_FEED = `${COLUMNS}, f.report ->> 'status' AS "vendorStatus", f.read_at AS "readAt", f.failures,
  f.last_error AS "lastError",
  ARRAY (SELECT severity FROM vendor_incidents i WHERE i.dependency_id = d.id AND i.resolved_at IS NULL) AS severities`

export const DEPENDENCY_VERSION: RecordVersion = {
  noun: 'dependency',
  table: 'dependencies',
  ignored: ['feed_id', 'is_baselined'],
  related: `(SELECT jsonb_agg(to_jsonb(o) ORDER BY to_jsonb(o)) FROM dependency_overrides o WHERE o.dependency_id = record.id)`,
}

/** Returns a page of a project's dependencies, newest first, and their total number. */
export async function listDependencies(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: DependencyWithFeed[]; total: number }> {
  const rows = await query<DependencyWithFeed>(
    db,
    `SELECT ${COLUMNS_WITH_FEED} FROM dependencies d JOIN vendor_feeds f ON f.id = d.feed_id WHERE d.project_id = :projectId
     ORDER BY d.id DESC LIMIT :limit OFFSET :offset`,
    { projectId, ...page },
  )
  return { rows, total: await countDependencies(db, projectId) }
}

export async function countDependencies(db: Db, projectId: string): Promise<number> {
  const sql = 'SELECT count(*) AS total FROM dependencies WHERE project_id = ?'
  return (await query<{ total: number }>(db, sql, [projectId]))[0]?.total ?? 0
}

/** Returns the ids of a project's dependencies on vendors of the catalog, by slug: the newest one of each vendor. */
export async function mapDependencySlugs(db: Db, projectId: string, slugs: string[]): Promise<Map<string, string>> {
  const sql = `SELECT DISTINCT ON (slug) slug, id FROM dependencies WHERE project_id = ? AND slug = ANY (?)
    ORDER BY slug, id DESC`
  const rows = await query<{ slug: string; id: string }>(db, sql, [projectId, slugs])
  return new Map(rows.map(({ slug, id }) => [slug, id]))
}

/** Finds a dependency. `id` must be a valid id. */
export async function findDependency(db: Db, projectId: string, id: string): Promise<DependencyWithFeed | null> {
  const sql = `SELECT ${COLUMNS_WITH_FEED} FROM dependencies d JOIN vendor_feeds f ON f.id = d.feed_id
    WHERE d.project_id = ? AND d.id = ?`
  return (await query<DependencyWithFeed>(db, sql, [projectId, id]))[0] ?? null
}

/** Finds and locks a dependency. Lock its feed first. */
export async function lockDependency(tx: Tx, projectId: string, id: string): Promise<Dependency | null> {
  const sql = `SELECT ${COLUMNS} FROM dependencies d WHERE project_id = ? AND id = ? FOR NO KEY UPDATE`
  return (await query<Dependency>(tx, sql, [projectId, id]))[0] ?? null
}

/** Locks up to `limit` dependencies on a feed with ids after `after`, in the order of ids. */
export function lockFeedDependencies(tx: Tx, feedId: string, after: string, limit: number): Promise<Dependency[]> {
  return query(
    tx,
    `SELECT ${COLUMNS} FROM dependencies d WHERE feed_id = ? AND id > ? ORDER BY id LIMIT ? FOR NO KEY UPDATE`,
    [feedId, after, limit],
  )
}

/** Returns the dependencies of all projects on vendors of the catalog. */
export function listCatalogDependencies(db: Db): Promise<Dependency[]> {
  return query(db, `SELECT ${COLUMNS} FROM dependencies d WHERE slug IS NOT NULL ORDER BY id`)
}

/** Inserts or updates a dependency. The caller has locked an existing one. */
export async function saveDependency(tx: Tx, dependency: Dependency): Promise<void> {
  await execute(
    tx,
    `INSERT INTO dependencies (id, project_id, feed_id, slug, name, category, status_url, feed_url, feed_type,
       feed_mapping, components, is_baselined, created_at, updated_at)
     VALUES (:id, :projectId, :feedId, :slug, :name, :category, :statusUrl, :feedUrl, :feedType, :feedMapping,
       :components, :isBaselined, :createdAt, :updatedAt)
     ON CONFLICT (id) DO UPDATE SET feed_id = excluded.feed_id, slug = excluded.slug, name = excluded.name,
       category = excluded.category, status_url = excluded.status_url, feed_url = excluded.feed_url,
       feed_type = excluded.feed_type, feed_mapping = excluded.feed_mapping, components = excluded.components,
       is_baselined = excluded.is_baselined, updated_at = excluded.updated_at`,
    { ...dependency, feedMapping: JSON.stringify(dependency.feedMapping) },
  )
}

/** Marks dependencies whose first report was applied. New incidents are announced from then on. */
export async function markBaselined(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await execute(tx, 'UPDATE dependencies SET is_baselined = true WHERE id = ANY (?::uuid[])', [ids])
}

/** Deletes a dependency with its incidents. Returns false when it does not exist. */
export async function deleteDependency(db: Db, projectId: string, id: string): Promise<boolean> {
  return (await execute(db, 'DELETE FROM dependencies WHERE project_id = ? AND id = ?', [projectId, id])) === 1
}
