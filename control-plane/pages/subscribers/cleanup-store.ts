import { type Db, execute } from '../../foundation/platform/postgres/client.ts'

/** The maximum number of rows per round and table. */
const MAX_ROWS = 5_000

/**
 * Deletes subscribers that were asked before `before` and have not confirmed, with their own channels. Returns how
 * many.
 */
export async function deleteUnconfirmed(db: Db, before: Date): Promise<number> {
  return execute(
    db,
    `WITH dropped AS (
       DELETE FROM page_subscribers WHERE id IN (
         SELECT id FROM page_subscribers WHERE confirmed_at IS NULL AND asked_at < :before ORDER BY asked_at LIMIT :limit)
       RETURNING channel_id, kind
     ), channels AS (
       DELETE FROM alert_channels c USING dropped d WHERE c.id = d.channel_id AND d.kind = 'webhook'
     )
     SELECT FROM dropped`,
    { before, limit: MAX_ROWS },
  )
}

/** Deletes deliveries to subscribers from before `before`: they contain texts and links that are no longer needed. */
export async function deleteOldDeliveries(db: Db, before: Date): Promise<number> {
  return execute(
    db,
    `DELETE FROM deliveries WHERE id IN (
       SELECT id FROM deliveries WHERE subscriber_id IS NOT NULL AND created_at < :before AND status <> 'pending'
       ORDER BY created_at LIMIT :limit)`,
    { before, limit: MAX_ROWS },
  )
}
