import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** Links to wallboards, which are read without a session (docs/design/wallboard.md). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE wall_links (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      -- a query of the list of monitors; empty: all monitors
      query text NOT NULL,
      token_hash bytea NOT NULL UNIQUE,
      last_used_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX wall_links_by_project ON wall_links (project_id, id DESC);
  `)
  await addAuditTrigger(db, 'wall_links', { resource: 'wall_link', ignored: ['last_used_at'] })
}
