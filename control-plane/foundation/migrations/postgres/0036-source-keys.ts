import type { Knex } from 'knex'

/** A data source remembers how many keys its document had when not all of them could become monitors. */
export async function up(db: Knex): Promise<void> {
  await db.raw('ALTER TABLE data_sources ADD COLUMN document_keys integer')
}
