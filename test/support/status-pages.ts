import { newId } from '../../control-plane/foundation/platform/ids.ts'
import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'

/** Creates a published page of a project and returns its id. */
export async function insertStatusPage(db: Db, projectId: string, slug: string): Promise<string> {
  const id = newId()
  await execute(
    db,
    `INSERT INTO status_pages (id, project_id, name, slug, template, brand_color, is_published, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'minimal', '#2563eb', true, now(), now())`,
    [id, projectId, slug, slug],
  )
  return id
}

/** Adds components without a monitor to a page. */
export async function insertComponents(db: Db, pageId: string, count: number): Promise<void> {
  await execute(
    db,
    `INSERT INTO status_page_components (id, page_id, name, display_order, status, created_at, updated_at)
     SELECT gen_random_uuid(), ?, 'Component ' || n, n, 'operational', now(), now() FROM generate_series(1, CAST(? AS int)) n`,
    [pageId, count],
  )
}
