import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** The columns of 0032 and the new one, which the database sets. */
const IGNORED = [
  'partition',
  'config_version',
  'streaks_since',
  'left_regions',
  'status',
  'status_changed_at',
  'ssl_expires_at',
  'domain_expires_at',
]

/**
 * Whether a region may report about a monitor: its current regions, and when it left others. A trigger writes it, so that
 * processes of the previous version record it as well. A monitor may have left any region before this migration: `any` is the
 * time until which that holds. It is the default of existing rows, so that none is written while the table is locked.
 * `foreign_reports` counts reports of probes about other regions or monitors.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE monitors ADD COLUMN left_regions jsonb NOT NULL
      DEFAULT jsonb_build_object('any', floor(extract(epoch FROM now()) * 1000)::bigint);
    ALTER TABLE monitors ALTER COLUMN left_regions SET DEFAULT '{}';

    CREATE FUNCTION note_left_regions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      SELECT coalesce(jsonb_object_agg(region, at), '{}') INTO NEW.left_regions FROM (
        SELECT region, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at
        FROM unnest(OLD.regions) AS region
        UNION ALL
        SELECT key, value::bigint FROM jsonb_each_text(OLD.left_regions) WHERE key <> ALL (OLD.regions)
      ) AS had WHERE region <> ALL (NEW.regions);
      RETURN NEW;
    END $$;
    CREATE TRIGGER monitors_leave_regions BEFORE UPDATE ON monitors
      FOR EACH ROW WHEN (OLD.regions IS DISTINCT FROM NEW.regions) EXECUTE FUNCTION note_left_regions();
    DROP TRIGGER monitors_audited ON monitors;

    CREATE TABLE foreign_reports (
      region text NOT NULL,
      what text NOT NULL,
      amount bigint NOT NULL,
      probe_id uuid,
      monitor_id uuid,
      first_at timestamptz NOT NULL,
      last_at timestamptz NOT NULL,
      PRIMARY KEY (region, what)
    );
  `)
  await db.raw(`
    -- the owner of an id at the external relay; an existing channel is entered when it is saved again
    CREATE TABLE relay_sources (
      channel_id uuid PRIMARY KEY REFERENCES alert_channels ON DELETE CASCADE,
      project_id uuid NOT NULL,
      relay_source_id text NOT NULL
    );
    CREATE INDEX relay_sources_by_id ON relay_sources (relay_source_id);
  `)
  await addAuditTrigger(db, 'monitors', { resource: 'monitor', ignored: IGNORED })
}
