import type { Knex } from 'knex'

/**
 * Notices about maintenance to the subscribers of status pages. Windows that exist send none until they are changed, so an
 * upgrade sends no mail by itself.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE maintenance_windows
      ADD COLUMN notify_subscribers boolean NOT NULL DEFAULT false,
      ADD COLUMN announce_minutes integer NOT NULL DEFAULT 1440;

    -- the notices that were sent, or left out on purpose; the key makes each of them unique
    CREATE TABLE maintenance_notices (
      window_id uuid NOT NULL REFERENCES maintenance_windows ON DELETE CASCADE,
      -- the period
      starts_at timestamptz NOT NULL,
      ends_at timestamptz NOT NULL,
      stage text NOT NULL CHECK (stage IN ('announced', 'begun', 'ended')),
      -- null: left out
      sent_at timestamptz,
      PRIMARY KEY (window_id, starts_at, stage)
    );
    CREATE INDEX maintenance_notices_by_age ON maintenance_notices (starts_at);

    -- when the next notice of a window is due; no row: there is none
    CREATE TABLE maintenance_notice_plans (
      window_id uuid PRIMARY KEY REFERENCES maintenance_windows ON DELETE CASCADE,
      due_at timestamptz NOT NULL
    );
    CREATE INDEX maintenance_notice_plans_due ON maintenance_notice_plans (due_at);
  `)
}
