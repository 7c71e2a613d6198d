import type { Knex } from 'knex'

/**
 * Events whose deliveries are queued after their transaction, because they concern many channels; and the project of each
 * lane, so that projects take turns.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- In the order of seq for each project. A row is deleted with its last delivery. There is no foreign key to the event: a
    -- deleted event has no recipients.
    CREATE TABLE fan_outs (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      event_id uuid NOT NULL,
      -- the last channel with its delivery, in the order of ids; null: none yet
      reached uuid,
      noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX fan_outs_by_project ON fan_outs (project_id, seq);
    CREATE INDEX alert_subscriptions_by_type ON alert_subscriptions (project_id, alert_type, alert_channel_id);

    -- A process of the previous version does not set it; such lanes take turns as one project.
    ALTER TABLE delivery_lanes ADD COLUMN project_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
    UPDATE delivery_lanes l SET project_id = c.project_id FROM alert_channels c WHERE c.id = l.channel_id;
    CREATE INDEX delivery_lanes_due_by_project ON delivery_lanes (project_id, channel_id, next_attempt_at);
    DROP INDEX delivery_lanes_due;
  `)
}
