import type { Knex } from 'knex'

/** Canaries (targets that fail on purpose), their alerts, and the measurement of each failure. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- separate from the operator project, whose channels would get planned failures all day
    CREATE TABLE canary_project (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      channel_id uuid REFERENCES alert_channels ON DELETE SET NULL,
      created_at timestamptz NOT NULL
    );
    CREATE TABLE canaries (
      region text PRIMARY KEY,
      monitor_id uuid NOT NULL UNIQUE REFERENCES monitors ON DELETE CASCADE,
      every_seconds integer NOT NULL,
      for_seconds integer NOT NULL,
      -- earlier failures do not belong to this schedule
      measured_since timestamptz NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    -- alerts at the receiver of the canaries; the first arrival of each delivery counts
    CREATE TABLE canary_alerts (
      delivery_id text PRIMARY KEY,
      monitor_id uuid NOT NULL,
      received_at timestamptz NOT NULL
    );
    CREATE INDEX canary_alerts_by_time ON canary_alerts (received_at);
    -- one row for each past planned failure; the process that inserts it counts it
    CREATE TABLE canary_outages (
      region text NOT NULL,
      started_at timestamptz NOT NULL,
      ended_at timestamptz NOT NULL,
      outcome text NOT NULL CHECK (outcome IN ('told', 'late', 'twice', 'missed', 'unmeasured')),
      -- [{ "turn": "down", "stage": "alert", "seconds": 34.1 }]
      stages jsonb NOT NULL,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (region, started_at)
    );
    CREATE INDEX canary_outages_by_time ON canary_outages (started_at);
  `)
}
