import type { Knex } from 'knex'

/**
 * Indexes for the events of one monitor or incident (filters of the alert log, timelines), and for incidents by their start.
 * They are built without locking the tables, outside a transaction. One that an interrupted migration left unfinished is
 * built again.
 */
export const config = { transaction: false }

const INDEXES = {
  events_by_subject: 'events (subject, id DESC)',
  incidents_by_start: 'incidents (project_id, started_at)',
}

export async function up(db: Knex): Promise<void> {
  for (const [name, columns] of Object.entries(INDEXES)) {
    await db.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
    await db.raw(`CREATE INDEX CONCURRENTLY ${name} ON ${columns}`)
  }
}
