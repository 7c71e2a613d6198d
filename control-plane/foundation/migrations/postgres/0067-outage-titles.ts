import type { Knex } from 'knex'

/** Status pages replace the title of an automatic incident also after a person changed what belongs to it (docs/design/incidents.md). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE incidents
      -- what the system wrote when it opened the incident; never changed, unlike cause_monitor_id and title
      ADD COLUMN outage_monitor_id uuid,
      ADD COLUMN outage_title text
  `)
}
