import type { Knex } from 'knex'

/**
 * A rehearsal (a transaction that is rolled back) takes no revisions of monitors: they are given to one transaction at a
 * time, and all other changes of monitors would wait for its end.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE OR REPLACE FUNCTION take_monitor_revision() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('picket.is_rehearsal', true) = 'on' THEN
        RETURN NEW;
      END IF;
      PERFORM pg_advisory_xact_lock(7026001);
      NEW.revision := nextval('monitor_revisions');
      PERFORM pg_notify('monitors', '');
      RETURN NEW;
    END $$;
  `)
}
