import type { Knex } from 'knex'

/** Incidents, events, channels, rules and deliveries. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE incidents (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      title text NOT NULL,
      severity text NOT NULL CHECK (severity IN ('minor', 'major', 'critical')),
      status text NOT NULL CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
      source text NOT NULL CHECK (source IN ('manual', 'automatic')),
      cause_monitor_id uuid REFERENCES monitors ON DELETE SET NULL,
      started_at timestamptz NOT NULL,
      resolved_at timestamptz,
      acknowledged_at timestamptz,
      acknowledged_by uuid,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX incidents_by_project ON incidents (project_id, id DESC);
    CREATE UNIQUE INDEX incidents_one_open_per_monitor ON incidents (cause_monitor_id)
      WHERE source = 'automatic' AND resolved_at IS NULL;
    CREATE TABLE incident_monitors (
      incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      PRIMARY KEY (incident_id, monitor_id)
    );
    CREATE TABLE incident_updates (
      id uuid PRIMARY KEY,
      incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
      status text NOT NULL,
      message text NOT NULL,
      is_internal boolean NOT NULL,
      author_id uuid,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX incident_updates_by_incident ON incident_updates (incident_id, id DESC);

    CREATE TABLE events (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      subject text NOT NULL,
      -- json keeps the order of the fields in webhooks
      data json NOT NULL,
      occurred_at timestamptz NOT NULL
    );
    CREATE INDEX events_by_project ON events (project_id, id DESC);

    CREATE TABLE alert_channels (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      type text NOT NULL,
      config bytea NOT NULL,
      signing_secret bytea,
      is_default boolean NOT NULL,
      is_paused boolean NOT NULL DEFAULT false,
      paused_at timestamptz,
      paused_reason text,
      consecutive_failures integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX alert_channels_by_project ON alert_channels (project_id, id DESC);
    CREATE TABLE alert_rules (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      alert_channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      on_down boolean NOT NULL,
      on_recovery boolean NOT NULL,
      on_degraded boolean NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (monitor_id, alert_channel_id)
    );
    CREATE INDEX alert_rules_by_channel ON alert_rules (alert_channel_id);
    CREATE INDEX alert_rules_by_project ON alert_rules (project_id, id DESC);

    CREATE TABLE deliveries (
      id text PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      event_id uuid NOT NULL REFERENCES events ON DELETE CASCADE,
      event_name text NOT NULL,
      subject text NOT NULL,
      status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'skipped', 'dead')),
      next_attempt_at timestamptz,
      is_replay boolean NOT NULL DEFAULT false,
      attempts jsonb NOT NULL DEFAULT '[]',
      attempts_before_replay integer NOT NULL DEFAULT 0,
      request_url text,
      request_headers jsonb,
      request_body bytea,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX deliveries_pending ON deliveries (channel_id, subject, seq) WHERE status = 'pending';
    CREATE INDEX deliveries_by_project ON deliveries (project_id, seq DESC);
    CREATE INDEX deliveries_by_channel ON deliveries (channel_id, seq DESC);

    -- A lane is the deliveries of one channel about one subject, sent in order. While it is leased,
    -- next_attempt_at is the end of the lease, so that a lane whose worker died is due again.
    CREATE TABLE delivery_lanes (
      channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      subject text NOT NULL,
      next_attempt_at timestamptz NOT NULL,
      lease_owner text,
      PRIMARY KEY (channel_id, subject)
    );
    CREATE INDEX delivery_lanes_due ON delivery_lanes (channel_id, next_attempt_at);
    CREATE INDEX delivery_lanes_leased ON delivery_lanes (channel_id) WHERE lease_owner IS NOT NULL;
  `)
}
