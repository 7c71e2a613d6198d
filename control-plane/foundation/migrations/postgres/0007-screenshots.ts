import type { Knex } from 'knex'

/** Screenshots (their bytes are in the object store), and the baseline with which a region's screenshots are compared. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE screenshots (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      region text NOT NULL,
      taken_in text NOT NULL,
      probe_id uuid NOT NULL,
      scheduled_at timestamptz NOT NULL,
      attempt integer NOT NULL,
      kind text NOT NULL CHECK (kind IN ('failure', 'comparison')),
      content_type text NOT NULL,
      size_bytes integer NOT NULL,
      store_key text NOT NULL,
      difference double precision,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX screenshots_by_monitor ON screenshots (monitor_id, created_at DESC, id DESC);
    CREATE INDEX screenshots_by_check ON screenshots (monitor_id, scheduled_at);
    CREATE INDEX screenshots_by_age ON screenshots (created_at);

    CREATE TABLE screenshot_baselines (
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      region text NOT NULL,
      url text NOT NULL,
      screenshot_id uuid NOT NULL REFERENCES screenshots ON DELETE CASCADE,
      compared_id uuid REFERENCES screenshots ON DELETE SET NULL,
      difference double precision,
      updated_at timestamptz NOT NULL,
      PRIMARY KEY (monitor_id, region)
    );
    CREATE INDEX screenshot_baselines_by_screenshot ON screenshot_baselines (screenshot_id);
    CREATE INDEX screenshot_baselines_by_compared ON screenshot_baselines (compared_id);
  `)
}
