import type { Knex } from 'knex'

/** The number of keys of a data source's document when not all of them could become monitors. */
export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE data_sources ADD COLUMN document_keys integer')
}
