import type { Knex } from 'knex'

/** Ping URLs, the state of each heartbeat, and the pings. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- encrypted, for display; its SHA-256, for look-ups
    ALTER TABLE monitors ADD COLUMN ping_token bytea, ADD COLUMN ping_token_hash bytea;
    CREATE UNIQUE INDEX monitors_by_ping_token ON monitors (ping_token_hash) WHERE ping_token_hash IS NOT NULL;
    CREATE INDEX monitors_without_ping_token ON monitors (id) WHERE type = 'heartbeat' AND ping_token IS NULL;

    CREATE TABLE heartbeats (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      -- number of all pings so far; the newest ping has this number
      pings bigint NOT NULL,
      last_ping_at timestamptz,
      last_success_at timestamptz,
      run_started_at timestamptz,
      -- when a missing success makes the monitor down; null: no ping is expected
      due_at timestamptz
    );
    CREATE INDEX heartbeats_due ON heartbeats (due_at) WHERE due_at IS NOT NULL;

    CREATE TABLE pings (
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      number bigint NOT NULL,
      kind text NOT NULL CHECK (kind IN ('success', 'start', 'fail', 'log', 'overdue')),
      exit_code smallint,
      at timestamptz NOT NULL,
      -- from the start of the run, in ms
      run_ms bigint,
      message text,
      body text,
      PRIMARY KEY (monitor_id, number)
    );

    -- until when pings were accepted: a ping that was due while no process listened does not count as missing
    CREATE TABLE heartbeat_intake (
      id boolean PRIMARY KEY DEFAULT true CHECK (id),
      listening_at timestamptz NOT NULL
    );
    INSERT INTO heartbeat_intake (listening_at) VALUES (now());
  `)
}
