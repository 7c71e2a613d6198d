import type { Knex } from 'knex'

/** Subscribers of status pages, and the notices that are still to be sent to them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- the page whose subscribers a channel reaches; null: an alert channel of the project
    ALTER TABLE alert_channels ADD COLUMN page_id uuid REFERENCES status_pages ON DELETE CASCADE;
    CREATE INDEX alert_channels_of_pages ON alert_channels (page_id) WHERE page_id IS NOT NULL;
    -- all mail of a page uses one channel, so that it has the share of one channel in a process
    CREATE UNIQUE INDEX alert_channels_page_mail ON alert_channels (page_id) WHERE type = 'page_mail';

    CREATE TABLE page_subscribers (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      page_id uuid NOT NULL REFERENCES status_pages ON DELETE CASCADE,
      channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('email', 'webhook')),
      -- a keyed hash, so that a copy of this table does not reveal who subscribed
      address_hash bytea NOT NULL,
      config bytea NOT NULL,
      signing_secret bytea,
      -- null: all components of the page, also future ones
      component_ids uuid[],
      asked_at timestamptz NOT NULL,
      -- null: the address is not confirmed
      confirmed_at timestamptz,
      consecutive_failures integer NOT NULL DEFAULT 0,
      paused_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (page_id, address_hash)
    );
    CREATE INDEX page_subscribers_by_page ON page_subscribers (page_id, id);
    CREATE INDEX page_subscribers_by_address ON page_subscribers (address_hash, asked_at);
    CREATE INDEX page_subscribers_by_channel ON page_subscribers (channel_id);
    CREATE INDEX page_subscribers_unconfirmed ON page_subscribers (asked_at) WHERE confirmed_at IS NULL;

    ALTER TABLE deliveries ADD COLUMN subscriber_id uuid REFERENCES page_subscribers ON DELETE CASCADE;
    CREATE INDEX deliveries_by_subscriber ON deliveries (subscriber_id) WHERE subscriber_id IS NOT NULL;
    CREATE INDEX deliveries_to_subscribers ON deliveries (created_at) WHERE subscriber_id IS NOT NULL;

    -- An event for the subscribers of a page, written with the event; a worker queues its deliveries for some subscribers
    -- at a time. No foreign key to the page, because writing one would lock its row.
    CREATE TABLE page_notices (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      page_id uuid NOT NULL,
      event_id uuid NOT NULL REFERENCES events ON DELETE CASCADE,
      due_at timestamptz NOT NULL,
      -- the event for subscribers, once deliveries are being queued, and the last subscriber with one
      told_event_id uuid REFERENCES events ON DELETE CASCADE,
      told_to uuid,
      UNIQUE (page_id, event_id)
    );
    CREATE INDEX page_notices_by_page ON page_notices (page_id, seq);
    CREATE INDEX page_notices_by_event ON page_notices (event_id);
  `)
}
