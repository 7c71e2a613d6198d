import type { Knex } from 'knex'

/** Many requests of one event to one host are sent one after the other. Processes of the previous version send them together. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- one of more than ten deliveries of its event: the pace of its host is checked before it is sent
    ALTER TABLE deliveries ADD COLUMN is_crowd boolean NOT NULL DEFAULT false;

    -- The number of requests of an event that were sent to a host (a hash), and when the next one may be sent.
    CREATE TABLE event_paces (
      event_id uuid NOT NULL REFERENCES events ON DELETE CASCADE,
      host bytea NOT NULL,
      has_left integer NOT NULL,
      next_at timestamptz NOT NULL,
      PRIMARY KEY (event_id, host)
    );
  `)
}
