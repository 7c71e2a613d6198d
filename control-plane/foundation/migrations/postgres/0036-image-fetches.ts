import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/**
 * The images of status pages are fetched in the background, again after a failure, and once a day. An image that was never
 * fetched has no bytes; after a change of the address the previous bytes stay until the new ones are fetched. Existing images
 * are fetched again within a day, spread over it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE status_page_images
      ALTER COLUMN bytes DROP NOT NULL,
      ALTER COLUMN content_type DROP NOT NULL,
      ADD CONSTRAINT status_page_images_uploaded CHECK (bytes IS NOT NULL OR source_url IS NOT NULL),
      -- null with a source_url: as soon as possible
      ADD COLUMN next_fetch_at timestamptz,
      -- in a row
      ADD COLUMN fetch_failures integer NOT NULL DEFAULT 0,
      -- why the last fetch gave no image
      ADD COLUMN problem text;
    UPDATE status_page_images SET next_fetch_at = now() + random() * interval '1 day' WHERE source_url IS NOT NULL;
    CREATE INDEX status_page_images_due ON status_page_images (next_fetch_at) WHERE source_url IS NOT NULL;
    DROP TRIGGER status_page_images_audited ON status_page_images;
  `)
  const ignored = ['next_fetch_at', 'fetch_failures', 'problem']
  await addAuditTrigger(db, 'status_page_images', { resource: 'status_page', id: 'page_id', isPart: true, ignored })
}
