import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/**
 * Templates for texts of incidents, and the post-mortem of an incident (docs/design/incidents.md#templates). The new columns have
 * no default, so the table is not rewritten.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE incidents
      ADD COLUMN postmortem text,
      -- null: not published
      ADD COLUMN postmortem_published_at timestamptz;

    CREATE TABLE incident_templates (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      title text,
      severity text CHECK (severity IN ('minor', 'major', 'critical')),
      status text CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
      message text NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE UNIQUE INDEX incident_templates_by_name ON incident_templates (project_id, lower(name));
  `)
  await addAuditTrigger(db, 'incident_templates', { resource: 'incident_template' })
}
