import type { Knex } from 'knex'

/**
 * Children of data sources whose value went from down to degraded stayed down, and an unchanged document was not evaluated
 * again. The next documents are evaluated, whether they have changed or not (docs/design/data-sources.md#children).
 */
export async function up(db: Knex): Promise<void> {
  await db.raw("UPDATE data_sources SET seen_hash = CAST('' AS bytea) WHERE seen_hash IS NOT NULL")
}
