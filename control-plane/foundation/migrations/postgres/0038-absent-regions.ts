import type { Knex } from 'knex'

/**
 * The latest period in which a region had no probe that could publish results. Votes of the region from before it end when it
 * begins. `absent_until` null with a beginning: the period has not ended.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE region_epochs
      ADD COLUMN absent_from timestamptz,
      ADD COLUMN absent_until timestamptz;
  `)
}
