import type { Knex } from 'knex'

/**
 * Monitors and their verdict state. Every change that concerns probes gets a new `revision`. The trigger serialises this
 * with an advisory lock, so that revisions become visible in order and "everything after revision n" never skips a row that
 * commits late.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE SEQUENCE monitor_revisions;
    CREATE TABLE monitors (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      partition smallint NOT NULL,
      config_version integer NOT NULL DEFAULT 1,
      revision bigint NOT NULL DEFAULT 0,
      name text NOT NULL,
      type text NOT NULL,
      url text,
      method text NOT NULL,
      headers bytea,
      body text,
      interval_seconds integer NOT NULL,
      timeout_ms integer NOT NULL,
      regions text[] NOT NULL,
      assertions jsonb,
      auth_type text,
      auth_config bytea,
      keyword text,
      keyword_type text NOT NULL,
      heartbeat_interval integer,
      heartbeat_grace integer,
      ssl_check boolean NOT NULL,
      domain_check boolean NOT NULL,
      screenshot_on_failure boolean NOT NULL,
      screenshot_compare boolean NOT NULL,
      screenshot_threshold double precision NOT NULL,
      retry_count integer NOT NULL,
      tags text[],
      status text CHECK (status IN ('up', 'down', 'degraded')),
      status_changed_at timestamptz,
      is_paused boolean NOT NULL DEFAULT false,
      ssl_expires_at timestamptz,
      domain_expires_at timestamptz,
      deleted_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX monitors_by_project ON monitors (project_id, id DESC) WHERE deleted_at IS NULL;
    CREATE INDEX monitors_by_revision ON monitors (revision);
    CREATE INDEX monitors_by_partition ON monitors (partition) WHERE deleted_at IS NULL;
    CREATE INDEX monitors_by_tag ON monitors USING gin (tags) WHERE deleted_at IS NULL;

    CREATE FUNCTION take_monitor_revision() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(7026001);
      NEW.revision := nextval('monitor_revisions');
      PERFORM pg_notify('monitors', '');
      RETURN NEW;
    END $$;
    CREATE TRIGGER monitors_inserted BEFORE INSERT ON monitors
      FOR EACH ROW EXECUTE FUNCTION take_monitor_revision();
    CREATE TRIGGER monitors_changed BEFORE UPDATE ON monitors
      FOR EACH ROW WHEN (
        OLD.config_version IS DISTINCT FROM NEW.config_version
        OR OLD.is_paused IS DISTINCT FROM NEW.is_paused
        OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at)
      EXECUTE FUNCTION take_monitor_revision();

    CREATE TABLE verdict_states (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      partition smallint NOT NULL,
      state jsonb NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX verdict_states_by_partition ON verdict_states (partition);

    CREATE TABLE transitions (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL,
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      from_status text,
      to_status text,
      at timestamptz NOT NULL,
      quorum text NOT NULL CHECK (quorum IN ('full', 'reduced')),
      summary text NOT NULL,
      -- json keeps the order of the fields
      explanation json NOT NULL,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX transitions_by_monitor ON transitions (monitor_id, at DESC, id DESC);

    CREATE TABLE partitions (
      id smallint PRIMARY KEY,
      epoch bigint NOT NULL DEFAULT 0,
      owner text,
      lease_until timestamptz,
      stream_created text,
      position bigint NOT NULL DEFAULT 0,
      position_taken_at timestamptz,
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    INSERT INTO partitions (id) SELECT generate_series(0, 15);
  `)
}
