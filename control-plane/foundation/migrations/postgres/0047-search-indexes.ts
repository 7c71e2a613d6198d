import type { Knex } from 'knex'

/**
 * Indexes for the events of one monitor or incident (filters of the alert log, timelines), and for incidents by their start.
 * They lock writes while they are built. They cannot be built concurrently: that waits for all other statements, also for
 * those of processes that wait for this migration.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE INDEX events_by_subject ON events (subject, id DESC);
    CREATE INDEX incidents_by_start ON incidents (project_id, started_at);
  `)
}
