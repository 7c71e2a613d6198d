import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** How a person wants to see the dashboard, and saved filters of the list of monitors (docs/design/views.md). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE user_preferences (
      user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
      theme text NOT NULL CHECK (theme IN ('system', 'light', 'dark')),
      density text NOT NULL CHECK (density IN ('compact', 'comfortable')),
      keyboard_shortcuts boolean NOT NULL,
      -- null: the time zone of the browser
      time_zone text,
      updated_at timestamptz NOT NULL
    );

    CREATE TABLE saved_views (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      -- null: shared with the organization
      user_id uuid REFERENCES users ON DELETE CASCADE,
      name text NOT NULL,
      query text NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE UNIQUE INDEX saved_views_shared ON saved_views (project_id, lower(name)) WHERE user_id IS NULL;
    CREATE UNIQUE INDEX saved_views_personal ON saved_views (project_id, user_id, lower(name)) WHERE user_id IS NOT NULL;
    CREATE INDEX saved_views_by_user ON saved_views (user_id) WHERE user_id IS NOT NULL;
  `)
  await addAuditTrigger(db, 'saved_views', { resource: 'view' })
}
