import type { Knex } from 'knex'

/** Reminders of ongoing outages, and digests of many changes in one message. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE alert_rules ADD COLUMN remind_every_minutes integer CHECK (remind_every_minutes BETWEEN 5 AND 1440);
    -- the number of the reminder; null: not a reminder
    ALTER TABLE deliveries ADD COLUMN reminder integer CHECK (reminder > 0);

    -- The next reminder of a rule about an outage. It may outlive the outage, so the worker checks whether it still applies.
    CREATE TABLE reminders (
      rule_id uuid PRIMARY KEY REFERENCES alert_rules ON DELETE CASCADE,
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
      -- the published monitor.down
      event_id uuid NOT NULL REFERENCES events ON DELETE CASCADE,
      told integer NOT NULL DEFAULT 0,
      due_at timestamptz NOT NULL
    );
    CREATE INDEX reminders_due ON reminders (due_at);
    -- the last published outage of a monitor
    CREATE INDEX events_down ON events (subject, id DESC) WHERE name = 'monitor.down';

    CREATE TABLE alert_settings (
      project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
      is_digest_enabled boolean NOT NULL,
      digest_threshold integer NOT NULL CHECK (digest_threshold BETWEEN 1 AND 1000),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );

    -- A digest collects changes while it is open. When it is closed, it becomes an event with a delivery.
    CREATE TABLE digests (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      due_at timestamptz NOT NULL,
      closed_at timestamptz,
      delivery_id text REFERENCES deliveries ON DELETE CASCADE
    );
    CREATE UNIQUE INDEX digests_one_open_per_channel ON digests (channel_id) WHERE closed_at IS NULL;
    CREATE INDEX digests_due ON digests (due_at) WHERE closed_at IS NULL;
    CREATE INDEX digests_by_channel ON digests (channel_id, closed_at DESC);
    CREATE INDEX digests_by_delivery ON digests (delivery_id);
    CREATE TABLE digest_entries (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      digest_id uuid NOT NULL REFERENCES digests ON DELETE CASCADE,
      event_id uuid NOT NULL REFERENCES events ON DELETE CASCADE,
      subject text NOT NULL,
      reminder integer,
      told_at timestamptz NOT NULL
    );
    CREATE INDEX digest_entries_by_digest ON digest_entries (digest_id, seq);
    CREATE INDEX digest_entries_by_subject ON digest_entries (digest_id, subject);
  `)
}
