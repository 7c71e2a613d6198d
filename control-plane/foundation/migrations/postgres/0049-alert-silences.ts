import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** Silences that people create. The table `silences`, with the withheld events of monitors, gets their reason. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE alert_silences (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      reason text,
      ends_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX alert_silences_by_project ON alert_silences (project_id, id DESC);
    CREATE INDEX alert_silences_in_force ON alert_silences (project_id, ends_at);
    CREATE INDEX alert_silences_by_end ON alert_silences (ends_at);
    CREATE TABLE alert_silence_monitors (
      silence_id uuid NOT NULL REFERENCES alert_silences ON DELETE CASCADE,
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      PRIMARY KEY (silence_id, monitor_id)
    );
    CREATE INDEX alert_silence_monitors_by_monitor ON alert_silence_monitors (monitor_id);

    ALTER TABLE silences DROP CONSTRAINT silences_reason_check,
      ADD CONSTRAINT silences_reason_check
        CHECK (reason IN ('maintenance', 'silenced', 'parent', 'grace', 'doubt', 'turn')) NOT VALID;
    ALTER TABLE silences VALIDATE CONSTRAINT silences_reason_check;

    CREATE OR REPLACE FUNCTION silenced_monitors(ids uuid[], moment timestamptz) RETURNS SETOF uuid
    LANGUAGE sql STABLE AS $$
      SELECT monitor_id FROM silences WHERE monitor_id = ANY (ids)
      UNION
      SELECT monitor_id FROM maintenance_periods
      WHERE monitor_id = ANY (ids) AND starts_at <= moment AND ends_at > moment
      UNION
      SELECT sm.monitor_id FROM alert_silence_monitors sm JOIN alert_silences s ON s.id = sm.silence_id
      WHERE sm.monitor_id = ANY (ids) AND s.ends_at > moment
      UNION
      SELECT kin.monitor_id FROM ancestors_of(ids) kin JOIN monitors ON monitors.id = kin.ancestor_id
      WHERE monitors.status = 'down'
    $$;

    -- screens show which monitors are silenced; a silence that ends early loses its monitors in the same way
    CREATE TRIGGER alert_silence_monitors_noted_on_insert AFTER INSERT ON alert_silence_monitors
      REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_state_changes();
    CREATE TRIGGER alert_silence_monitors_noted_on_delete AFTER DELETE ON alert_silence_monitors
      REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_state_changes();
  `)
  await addAuditTrigger(db, 'alert_silences', { resource: 'silence', name: 'reason' })
  await addAuditTrigger(db, 'alert_silence_monitors', {
    ...{ resource: 'silence', id: 'silence_id', name: 'reason', isPart: true },
  })
}
