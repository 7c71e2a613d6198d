import type { Knex } from 'knex'

/** Indexes for the orders of the list of monitors. Their expressions are those of the list's statement. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE INDEX monitors_by_name ON monitors (project_id, lower(name), id DESC) WHERE deleted_at IS NULL;
    CREATE INDEX monitors_by_status ON monitors (project_id,
      (CASE WHEN is_paused THEN 4 WHEN status = 'down' THEN 0 WHEN status = 'degraded' THEN 1 WHEN status IS NULL THEN 2
        ELSE 3 END), status_changed_at DESC NULLS LAST, id DESC) WHERE deleted_at IS NULL;
    CREATE INDEX monitors_by_change ON monitors (project_id, status_changed_at DESC NULLS LAST, id DESC)
      WHERE deleted_at IS NULL;
  `)
}
