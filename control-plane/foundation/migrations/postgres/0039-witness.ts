import type { Knex } from 'knex'

/**
 * Whether a probe of another region may check a monitor to confirm failures of a suspect region, and whether it gets the
 * monitor's credentials for that.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE monitors ADD COLUMN witness boolean NOT NULL DEFAULT true,
      ADD COLUMN witness_with_credentials boolean NOT NULL DEFAULT false`)
}
