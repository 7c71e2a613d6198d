import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { claimRows, type LeaseRequest } from '../../../foundation/platform/postgres/lease.ts'
import type { ImageKind, StoredImage } from '../types.ts'
import type { ImageType } from './image-format.ts'

/** Replaces a page's image by an upload. The caller has locked the page. */
export async function saveUpload(
  tx: Tx,
  pageId: string,
  kind: ImageKind,
  image: StoredImage,
  now: Date,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO status_page_images (id, page_id, kind, content_type, bytes, source_url, created_at, updated_at)
     VALUES (:id, :pageId, :kind, :contentType, :bytes, NULL, :now, :now)
     ON CONFLICT (page_id, kind) DO UPDATE SET id = excluded.id, content_type = excluded.content_type,
       bytes = excluded.bytes, source_url = NULL, next_fetch_at = NULL, fetch_failures = 0, problem = NULL,
       updated_at = excluded.updated_at`,
    { ...image, pageId, kind, now },
  )
}

/**
 * Schedules a page's image to be fetched immediately. The previous image stays until the new one is stored.
 * `id` is used when the page has no image yet. The caller has locked the page.
 */
export async function saveImageUrl(
  tx: Tx,
  pageId: string,
  kind: ImageKind,
  { id, url }: { id: string; url: string },
  now: Date,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO status_page_images (id, page_id, kind, source_url, next_fetch_at, created_at, updated_at)
     VALUES (:id, :pageId, :kind, :url, :now, :now, :now)
     ON CONFLICT (page_id, kind) DO UPDATE SET source_url = excluded.source_url, next_fetch_at = :now,
       fetch_failures = 0, problem = NULL, updated_at = excluded.updated_at`,
    { id, pageId, kind, url, now },
  )
  await execute(tx, `SELECT pg_notify('page_images', '')`)
}

export async function removeImage(tx: Tx, pageId: string, kind: ImageKind): Promise<void> {
  await execute(tx, 'DELETE FROM status_page_images WHERE page_id = ? AND kind = ?', [pageId, kind])
}

/** The images of a page with their bytes. */
export async function loadPageImages(db: Db, pageId: string): Promise<Record<ImageKind, StoredImage | null>> {
  const rows = await query<StoredImage & { kind: ImageKind }>(
    db,
    `SELECT kind, id, content_type AS "contentType", bytes FROM status_page_images
     WHERE page_id = ? AND bytes IS NOT NULL`,
    [pageId],
  )
  const findImage = (kind: ImageKind) => {
    const row = rows.find(row => row.kind === kind)
    return row ? { id: row.id, contentType: row.contentType, bytes: row.bytes } : null
  }
  return { logo: findImage('logo'), favicon: findImage('favicon') }
}

/** An image of a page of a project, also while the page is not published. */
export async function findPageImage(
  db: Db,
  projectId: string,
  pageId: string,
  kind: ImageKind,
): Promise<StoredImage | null> {
  const [row] = await query<StoredImage>(
    db,
    `SELECT i.id, content_type AS "contentType", bytes FROM status_page_images i
       JOIN status_pages p ON p.id = page_id
     WHERE page_id = :pageId AND kind = :kind AND project_id = :projectId AND bytes IS NOT NULL`,
    { projectId, pageId, kind },
  )
  return row ?? null
}

/** An image that is due. `digest`: SHA-256 of its bytes in hex, null when there are none. */
export type DueImage = { pageId: string; kind: ImageKind; url: string; failures: number; digest: string | null }

const FETCHED_IMAGES = {
  table: 'status_page_images',
  key: 'id',
  dueAt: 'next_fetch_at',
  isNullDue: true,
  condition: 't.source_url IS NOT NULL',
}

const DUE_COLUMNS = `page_id AS "pageId", kind, source_url AS url, fetch_failures AS failures,
  encode(sha256(bytes), 'hex') AS digest`

/** Claims due images. After a crash they become due again. */
export const claimDueImages = (db: Db, request: LeaseRequest): Promise<DueImage[]> =>
  claimRows(db, FETCHED_IMAGES, DUE_COLUMNS, request)

/** When the next image is due; null when there is none. */
export async function findNextFetchAt(db: Db): Promise<Date | null> {
  const [row] = await query<{ at: Date | null }>(
    db,
    'SELECT min(next_fetch_at) AS at FROM status_page_images WHERE source_url IS NOT NULL',
  )
  return row?.at ?? null
}

export type FetchedImage = { id: string; contentType: ImageType; bytes: Buffer }

/** Stores a fetched image, unless its address has changed meanwhile. The caller has locked the page. */
export async function saveFetchedImage(
  tx: Tx,
  { pageId, kind, url }: DueImage,
  image: FetchedImage,
  now: Date,
): Promise<void> {
  await execute(
    tx,
    `UPDATE status_page_images SET id = :id, content_type = :contentType, bytes = :bytes, updated_at = :now
     WHERE page_id = :pageId AND kind = :kind AND source_url = :url`,
    { ...image, pageId, kind, url, now },
  )
}

/** Records a successful fetch and the time of the next one. */
export async function recordFetchSuccess(db: Db, { pageId, kind, url }: DueImage, nextAt: Date): Promise<void> {
  await execute(
    db,
    `UPDATE status_page_images SET next_fetch_at = :nextAt, fetch_failures = 0, problem = NULL
     WHERE page_id = :pageId AND kind = :kind AND source_url = :url`,
    { pageId, kind, url, nextAt },
  )
}

/** Records why a fetch failed and the time of the next one. */
export async function recordFetchProblem(db: Db, image: DueImage, problem: string, nextAt: Date): Promise<void> {
  await execute(
    db,
    `UPDATE status_page_images SET next_fetch_at = :nextAt, fetch_failures = fetch_failures + 1, problem = :problem
     WHERE page_id = :pageId AND kind = :kind AND source_url = :url`,
    { ...image, problem, nextAt },
  )
}
