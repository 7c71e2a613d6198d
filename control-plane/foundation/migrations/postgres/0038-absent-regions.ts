import type { Knex } from 'knex'

/**
 * The newest time in which a region had no probe that can publish results. Votes of the region that were taken before it end
 * with its beginning. `absent_until` null with a beginning: the region has none now.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE region_epochs
      ADD COLUMN absent_from timestamptz,
      ADD COLUMN absent_until timestamptz;
  `)
}
