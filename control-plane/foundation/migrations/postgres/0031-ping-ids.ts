import type { Knex } from 'knex'

/**
 * Each ping has the id that it got when it arrived. A ping that was kept in the message stream while PostgreSQL was not
 * available is then stored once, however often it is delivered.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE pings ADD COLUMN arrival_id uuid')
}
