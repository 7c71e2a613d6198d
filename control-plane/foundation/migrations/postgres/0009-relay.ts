import type { Knex } from 'knex'

/** The built-in relay, which tries webhooks for a day instead of three times. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE deliveries
      -- the destination of a delivery that was passed to the relay and so left its lane
      ADD COLUMN relay_origin text,
      -- attempts that were dropped from the log
      ADD COLUMN attempts_left_out integer NOT NULL DEFAULT 0;
    DROP INDEX deliveries_pending;
    CREATE INDEX deliveries_pending ON deliveries (channel_id, subject, seq)
      WHERE status = 'pending' AND relay_origin IS NULL;
    CREATE INDEX deliveries_dead ON deliveries (project_id, relay_origin, seq) WHERE status = 'dead';

    -- A destination is one origin of one project's webhooks, with its circuit breaker: closed while opened_at is null.
    CREATE TABLE relay_destinations (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      origin text NOT NULL,
      consecutive_failures integer NOT NULL DEFAULT 0,
      opened_at timestamptz,
      next_trial_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (project_id, origin)
    );

    -- Messages that the relay still has to deliver. While a message is leased, next_attempt_at is the end of the lease.
    CREATE TABLE relay_messages (
      delivery_id text PRIMARY KEY REFERENCES deliveries ON DELETE CASCADE,
      destination_id uuid NOT NULL REFERENCES relay_destinations ON DELETE CASCADE,
      channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      handed_over_at timestamptz NOT NULL,
      failures integer NOT NULL DEFAULT 0,
      next_attempt_at timestamptz NOT NULL,
      lease_owner text
    );
    CREATE INDEX relay_messages_due ON relay_messages (destination_id, next_attempt_at);
    CREATE INDEX relay_messages_leased ON relay_messages (destination_id) WHERE lease_owner IS NOT NULL;
    CREATE INDEX relay_messages_by_age ON relay_messages (handed_over_at);
    CREATE INDEX relay_messages_by_channel ON relay_messages (channel_id);
  `)
}
