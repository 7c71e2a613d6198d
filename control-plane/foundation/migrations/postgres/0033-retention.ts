import type { Knex } from 'knex'

/**
 * Indexes that find rows to delete (control-plane/operations/retention) and rows that refer to them: without them, each
 * deletion would read the whole referring table. An explanation may be deleted before its transition.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE transitions ALTER COLUMN explanation DROP NOT NULL;
    CREATE INDEX transitions_explained ON transitions (id) WHERE explanation IS NOT NULL;
    CREATE INDEX monitors_deleted ON monitors (id) WHERE deleted_at IS NOT NULL;
    CREATE INDEX maintenance_periods_by_age ON maintenance_periods (ends_at);
    CREATE INDEX expiry_warnings_by_age ON expiry_warnings (warned_at);

    -- references to an event
    CREATE INDEX deliveries_by_event ON deliveries (event_id);
    CREATE INDEX digest_entries_by_event ON digest_entries (event_id);
    CREATE INDEX reminders_by_event ON reminders (event_id);
    CREATE INDEX page_notices_by_told_event ON page_notices (told_event_id) WHERE told_event_id IS NOT NULL;
    -- to an incident
    CREATE INDEX reminders_by_incident ON reminders (incident_id);
    -- to a monitor
    CREATE INDEX reminders_by_monitor ON reminders (monitor_id);
    CREATE INDEX incidents_by_cause ON incidents (cause_monitor_id) WHERE cause_monitor_id IS NOT NULL;
    CREATE INDEX incident_monitors_by_monitor ON incident_monitors (monitor_id);
    CREATE INDEX maintenance_window_monitors_by_monitor ON maintenance_window_monitors (monitor_id);
    -- to a project
    CREATE INDEX digests_by_project ON digests (project_id);
    CREATE INDEX maintenance_periods_by_project ON maintenance_periods (project_id);
    CREATE INDEX page_subscribers_by_project ON page_subscribers (project_id);
    CREATE INDEX screenshots_by_project ON screenshots (project_id);

    -- as many rows are deleted as inserted: space is reused before it is a fifth of the table
    ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.05);
    ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.05);
    ALTER TABLE transitions SET (autovacuum_vacuum_scale_factor = 0.05);
    ALTER TABLE incidents SET (autovacuum_vacuum_scale_factor = 0.05);
  `)
}
