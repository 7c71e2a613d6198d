import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import type { RecordVersion } from '../../foundation/web/conditions/record-version.ts'
import type { StoredPage } from './records.ts'
import type { ImageKind } from './types.ts'

/** Columns of a row `p` of `status_pages`. */
export const PAGE_COLUMNS = `
  p.id, p.project_id AS "projectId", p.name, p.slug, p.template, p.brand_color AS "brandColor",
  p.custom_css AS "customCss", p.seo_title AS "seoTitle", p.seo_description AS "seoDescription",
  p.is_published AS "isPublished", p.show_response_times AS "showResponseTimes",
  p.show_uptime_percentage AS "showUptimePercentage", p.custom_domain AS "customDomain",
  p.custom_domain_verified_at AS "customDomainVerifiedAt", p.created_at AS "createdAt", p.updated_at AS "updatedAt",
  (SELECT count(*) FROM status_page_components c WHERE c.page_id = p.id) AS "componentCount",
  ${buildImageColumn('logo')}, ${buildImageColumn('favicon')}`

function buildImageColumn(kind: ImageKind): string {
  return `(
    SELECT jsonb_build_object('id', i.id, 'sourceUrl', i.source_url, 'isHere', i.bytes IS NOT NULL, 'problem', i.problem)
    FROM status_page_images i WHERE i.page_id = p.id AND i.kind = '${kind}') AS ${kind}`
}

export const PAGE_VERSION: RecordVersion = {
  noun: 'status page',
  table: 'status_pages',
  ignored: ['custom_domain_verified_at'],
  related: `(SELECT jsonb_agg(jsonb_build_array(i.kind, i.source_url, CASE WHEN i.source_url IS NULL THEN i.id END) ORDER BY i.kind)
    FROM status_page_images i WHERE i.page_id = record.id)`,
}

/** What is on a page is locked with the page. `:parentId` is the page. */
export const ON_PAGE: Pick<RecordVersion, 'scope' | 'lock'> = {
  scope: `page_id = (
    SELECT id FROM status_pages WHERE project_id = CAST(:projectId AS uuid) AND id = CAST(:parentId AS uuid))`,
  lock: `SELECT FROM status_pages WHERE project_id = CAST(:projectId AS uuid) AND id = CAST(:parentId AS uuid)
    FOR NO KEY UPDATE`,
}

/** One page of a project's status pages, newest first, and the total. */
export async function listPages(
  db: Db,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<{ pages: StoredPage[]; total: number }> {
  const [count] = await query<{ total: number }>(
    db,
    'SELECT count(*) AS total FROM status_pages WHERE project_id = ?',
    [projectId],
  )
  const pages = await query<StoredPage>(
    db,
    `SELECT ${PAGE_COLUMNS} FROM status_pages p WHERE p.project_id = :projectId ORDER BY p.id DESC
     LIMIT :limit OFFSET :offset`,
    { projectId, ...page },
  )
  return { pages, total: count?.total ?? 0 }
}

/** All of a project's status pages, oldest first. */
export function listProjectPages(db: Db, projectId: string): Promise<StoredPage[]> {
  return query(db, `SELECT ${PAGE_COLUMNS} FROM status_pages p WHERE p.project_id = ? ORDER BY p.id`, [projectId])
}

/** One status page. `id` must be a valid id. */
export async function findPage(db: Db, projectId: string, id: string): Promise<StoredPage | null> {
  const sql = `SELECT ${PAGE_COLUMNS} FROM status_pages p WHERE p.project_id = ? AND p.id = ?`
  return (await query<StoredPage>(db, sql, [projectId, id]))[0] ?? null
}

/** One status page, locked until the transaction ends. Every change of a page takes this lock. */
export async function lockPage(tx: Tx, projectId: string, id: string): Promise<StoredPage | null> {
  await execute(tx, 'SELECT 1 FROM status_pages WHERE project_id = ? AND id = ? FOR NO KEY UPDATE', [projectId, id])
  return findPage(tx, projectId, id)
}

/** Throws the unique violation of `status_pages_slug` when the slug is in use. */
export async function insertPage(tx: Tx, page: StoredPage): Promise<void> {
  await execute(
    tx,
    `INSERT INTO status_pages (id, project_id, name, slug, template, brand_color, is_published, created_at,
       updated_at)
     VALUES (:id, :projectId, :name, :slug, :template, :brandColor, :isPublished, :createdAt, :updatedAt)`,
    page,
  )
}

/** Writes the fields of the update body. The caller has locked the page. */
export async function updatePage(tx: Tx, page: StoredPage): Promise<void> {
  await execute(
    tx,
    `UPDATE status_pages SET name = :name, template = :template, brand_color = :brandColor, custom_css = :customCss,
       seo_title = :seoTitle, seo_description = :seoDescription, is_published = :isPublished,
       show_response_times = :showResponseTimes, show_uptime_percentage = :showUptimePercentage, updated_at = :updatedAt
     WHERE id = :id`,
    page,
  )
}

/** Gives the page a new row version, which the public cache compares. */
export async function touchPage(tx: Tx, id: string, now: Date): Promise<void> {
  await execute(tx, 'UPDATE status_pages SET updated_at = ? WHERE id = ?', [now, id])
}

/** Deletes a page with everything on it. False when the project has no such page. */
export async function removePage(db: Db, projectId: string, id: string): Promise<boolean> {
  return db.transaction(async tx => {
    await execute(tx, 'SELECT FROM status_pages WHERE project_id = ? AND id = ? FOR UPDATE', [projectId, id])
    // channels of subscribers before subscribers, in the lock order of deliveries
    await execute(tx, 'DELETE FROM alert_channels WHERE project_id = ? AND page_id = ?', [projectId, id])
    return (await execute(tx, 'DELETE FROM status_pages WHERE project_id = ? AND id = ?', [projectId, id])) === 1
  })
}
