import type { Knex } from 'knex'

/** The operator project, its incidents about the fleet, and the state that the fleet reports. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE operator_project (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      created_at timestamptz NOT NULL
    );
    -- open incidents of the operator project by subject: region:eu-west, probe:<id>
    CREATE TABLE operator_incidents (
      subject text PRIMARY KEY,
      incident_id uuid NOT NULL,
      created_at timestamptz NOT NULL
    );

    -- the number of monitors of the region, and how many of them no live probe can check
    ALTER TABLE region_epochs ADD COLUMN monitors integer NOT NULL DEFAULT 0;
    ALTER TABLE region_epochs ADD COLUMN unassigned integer NOT NULL DEFAULT 0;

    -- a probe that is drained until then, and why
    ALTER TABLE probes ADD COLUMN drained_until timestamptz;
    ALTER TABLE probes ADD COLUMN drain_reason text;

    -- two probes of a region that contradicted each other; no foreign keys, because counted contradictions must be kept
    CREATE TABLE probe_disagreements (
      monitor_id uuid NOT NULL,
      region text NOT NULL,
      scheduled_at timestamptz NOT NULL,
      -- the probe that reported a failure
      probe_id uuid NOT NULL,
      -- the probe that reported a success
      other_probe_id uuid NOT NULL,
      -- the probe that the other regions contradict; null: undecided
      odd_probe_id uuid,
      at timestamptz NOT NULL,
      PRIMARY KEY (monitor_id, region, scheduled_at, probe_id)
    );
    CREATE INDEX probe_disagreements_by_time ON probe_disagreements (at);
  `)
}
