import type { Knex } from 'knex'

/** Subscribers of status pages, and the notices that are still to be sent to them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- the page whose subscribers a channel reaches; null: an alert channel of the project
    ALTER TABLE alert_channels ADD COLUMN page_id uuid REFERENCES status_pages ON DELETE CASCADE;
    CREATE INDEX alert_channels_of_pages ON alert_channels (page_id) WHERE page_id IS NOT NULL;
    -- all mail of a page goes by one channel, so that its share of a process is a channel's
    CREATE UNIQUE INDEX alert_channels_page_mail ON alert_channels (page_id) WHERE type = 'page_mail';

    CREATE TABLE page_subscribers (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      page_id uuid NOT NULL REFERENCES status_pages ON DELETE CASCADE,
      channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('email', 'webhook')),
      -- keyed, so that a copy of this table does not tell whether somebody is in it
      address_hash bytea NOT NULL,
      config bytea NOT NULL,
      signing_secret bytea,
      -- null: all that the page has, and will have
      component_ids uuid[],
      asked_at timestamptz NOT NULL,
      -- null: somebody gave this address, who may be anybody
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

    -- An event that the subscribers of a page are to hear of, written with the event; a worker makes deliveries of it,
    -- some subscribers at a time. No foreign key to the page: writing one would lock its row.
    CREATE TABLE page_notices (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      page_id uuid NOT NULL,
      event_id uuid NOT NULL REFERENCES events ON DELETE CASCADE,
      due_at timestamptz NOT NULL,
      -- the page's own event, once it is being told, and the last subscriber who has it
      told_event_id uuid REFERENCES events ON DELETE CASCADE,
      told_to uuid,
      UNIQUE (page_id, event_id)
    );
    CREATE INDEX page_notices_by_page ON page_notices (page_id, seq);
    CREATE INDEX page_notices_by_event ON page_notices (event_id);
  `)
}
