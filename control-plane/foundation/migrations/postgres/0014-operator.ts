import type { Knex } from 'knex'

/** The operator project, its incidents about the fleet, and the state that the fleet reports. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE operator_project (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      created_at timestamptz NOT NULL
    );
    -- open incidents of the operator project by what they are about: region:eu-west, probe:<id>
    CREATE TABLE operator_incidents (
      subject text PRIMARY KEY,
      incident_id uuid NOT NULL,
      created_at timestamptz NOT NULL
    );

    -- how many monitors are to be checked in the region, and how many of them no live probe can check
    ALTER TABLE region_epochs ADD COLUMN monitors integer NOT NULL DEFAULT 0;
    ALTER TABLE region_epochs ADD COLUMN unassigned integer NOT NULL DEFAULT 0;

    -- a probe that gets no work until then, and why
    ALTER TABLE probes ADD COLUMN drained_until timestamptz;
    ALTER TABLE probes ADD COLUMN drain_reason text;

    -- two probes of a region that contradicted each other; no foreign keys, for what has been counted has to be kept
    CREATE TABLE probe_disagreements (
      monitor_id uuid NOT NULL,
      region text NOT NULL,
      scheduled_at timestamptz NOT NULL,
      -- said that it fails
      probe_id uuid NOT NULL,
      -- said that it does not
      other_probe_id uuid NOT NULL,
      -- whom the other regions contradict; null where they cannot tell
      odd_probe_id uuid,
      at timestamptz NOT NULL,
      PRIMARY KEY (monitor_id, region, scheduled_at, probe_id)
    );
    CREATE INDEX probe_disagreements_by_time ON probe_disagreements (at);
  `)
}
