import type { Knex } from 'knex'

/** The index for the order `expires` of the list of monitors. Its expression is that of the list's statement. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE INDEX monitors_by_expiry ON monitors (project_id, least(ssl_expires_at, domain_expires_at), id DESC)
      WHERE deleted_at IS NULL;
  `)
}
