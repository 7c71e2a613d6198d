import { type Db, execute } from '../../foundation/platform/postgres/client.ts'

/** One round takes no more of either. */
const MAX_ROWS = 5_000

/** Whoever did not confirm since `before`, with the channels that were theirs alone. Answers how many. */
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

/** What subscribers were sent before `before`: it holds texts and links, and nobody reads it any more. */
export async function deleteOldDeliveries(db: Db, before: Date): Promise<number> {
  return execute(
    db,
    `DELETE FROM deliveries WHERE id IN (
       SELECT id FROM deliveries WHERE subscriber_id IS NOT NULL AND created_at < :before AND status <> 'pending'
       ORDER BY created_at LIMIT :limit)`,
    { before, limit: MAX_ROWS },
  )
}
