import type { Knex } from 'knex'

/** Manual incidents, and channels that are subscribed to a whole project. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- the message with which an incident was created; later events still contain it
    ALTER TABLE incident_updates ADD COLUMN is_initial boolean NOT NULL DEFAULT false;
    CREATE INDEX incidents_by_end ON incidents (project_id, resolved_at);

    CREATE TABLE alert_subscriptions (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      alert_channel_id uuid NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
      alert_type text NOT NULL CHECK (alert_type IN ('incident', 'dependency_incident')),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (alert_channel_id, alert_type)
    );
    CREATE INDEX alert_subscriptions_by_project ON alert_subscriptions (project_id, id DESC);
  `)
}
