import { type Db, execute, query, type Tx } from '../platform/postgres.ts'
import type { ImageKind, StoredImage } from './types.ts'

/** An image and where it was fetched from; `sourceUrl` null: it was uploaded. */
export type NewImage = StoredImage & { sourceUrl: string | null }

/** Writes a page's image over the one before; the caller holds the page. */
export async function putImage(tx: Tx, pageId: string, kind: ImageKind, image: NewImage, now: Date): Promise<void> {
  await execute(
    tx,
    `INSERT INTO status_page_images (id, page_id, kind, content_type, bytes, source_url, created_at, updated_at)
     VALUES (:id, :pageId, :kind, :contentType, :bytes, :sourceUrl, :now, :now)
     ON CONFLICT (page_id, kind) DO UPDATE SET id = excluded.id, content_type = excluded.content_type,
       bytes = excluded.bytes, source_url = excluded.source_url, updated_at = excluded.updated_at`,
    { ...image, pageId, kind, now },
  )
}

export async function removeImage(tx: Tx, pageId: string, kind: ImageKind): Promise<void> {
  await execute(tx, 'DELETE FROM status_page_images WHERE page_id = ? AND kind = ?', [pageId, kind])
}

/** A page's images with their bytes. */
export async function imagesOfPage(db: Db, pageId: string): Promise<Record<ImageKind, StoredImage | null>> {
  const rows = await query<StoredImage & { kind: ImageKind }>(
    db,
    'SELECT kind, id, content_type AS "contentType", bytes FROM status_page_images WHERE page_id = ?',
    [pageId],
  )
  const imageOf = (kind: ImageKind) => {
    const row = rows.find(row => row.kind === kind)
    return row ? { id: row.id, contentType: row.contentType, bytes: row.bytes } : null
  }
  return { logo: imageOf('logo'), favicon: imageOf('favicon') }
}
