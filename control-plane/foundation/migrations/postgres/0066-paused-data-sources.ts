import type { Knex } from 'knex'

/** A data source can be paused: its document is not fetched (docs/design/data-sources.md#pause). */
export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE data_sources ADD COLUMN is_paused boolean NOT NULL DEFAULT false')
}
