import type { Knex } from 'knex'

/**
 * Indexes for the events of one monitor or incident (filters of the alert log, timelines), and for incidents by their start.
 * They are built in the migration's transaction: CONCURRENTLY would wait for other processes that wait for the lock of the
 * migrations, without end.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('CREATE INDEX events_by_subject ON events (subject, id DESC)')
  await db.raw('CREATE INDEX incidents_by_start ON incidents (project_id, started_at)')
}
