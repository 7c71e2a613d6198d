import type { Knex } from 'knex'

/**
 * The settings of the monitors that exist, from which their history begins (see 0052). A migration of its own: the triggers
 * of 0052 lock `monitors`, and this statement takes seconds with many monitors.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    INSERT INTO monitor_policies
      SELECT id, clock_timestamp(), config_version, streaks_since, regions, retry_count, interval_seconds, timeout_ms,
        witness, is_paused
      FROM monitors
      WHERE deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM monitor_policies WHERE monitor_id = monitors.id)
  `)
}
