import type { Knex } from 'knex'

/**
 * Each ping has an id from its arrival. A ping that was queued in the message stream while PostgreSQL was unavailable is
 * therefore stored once, however often it is delivered.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE pings ADD COLUMN arrival_id uuid')
}
