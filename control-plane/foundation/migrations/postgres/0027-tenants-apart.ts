import type { Knex } from 'knex'

/** Isolation of tenants: work of one tenant does not delay another. */
export async function up(db: Knex): Promise<void> {
  await handOutAtCommit(db)
  await emptyInBatches(db)
}

/** An organization is first marked as deleted, which hides it, and then emptied batch by batch. */
const emptyInBatches = (db: Knex) =>
  db.raw(`
    ALTER TABLE organizations ADD COLUMN emptied_at timestamptz;
    UPDATE organizations SET emptied_at = deleted_at WHERE deleted_at IS NOT NULL;
    CREATE INDEX organizations_to_empty ON organizations (deleted_at) WHERE deleted_at IS NOT NULL AND emptied_at IS NULL;
  `)

/**
 * Monitors get their revisions at the commit. A change only marks its rows with the negative id of its transaction; a
 * deferred trigger gives the marked rows their revisions. So the lock that keeps revisions in the order of commits is held
 * only during the commit, and not from the first change on. No reader sees a mark. A transaction that waits for the lock
 * holds only its own rows, and takes no other lock after it.
 */
const handOutAtCommit = (db: Knex) =>
  db.raw(`
    DROP TRIGGER monitors_inserted ON monitors;
    DROP TRIGGER monitors_changed ON monitors;
    DROP FUNCTION take_monitor_revision();

    CREATE FUNCTION mark_changed_monitor() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- a rehearsal is taken back: it needs no revisions
      IF current_setting('picket.is_rehearsal', true) = 'on' THEN
        RETURN NEW;
      END IF;
      NEW.revision := -(pg_current_xact_id()::text::bigint);
      IF current_setting('picket.has_revisions', true) = 'on' THEN
        PERFORM set_config('picket.has_revisions', '', true);
      END IF;
      RETURN NEW;
    END $$;

    -- called once a changed row; the first call works for all of them. There is no actor here: the audit log has the change already.
    CREATE FUNCTION hand_out_monitor_revisions() RETURNS trigger LANGUAGE plpgsql SET picket.actor = '' AS $$
    DECLARE
      mark bigint;
    BEGIN
      IF current_setting('picket.has_revisions', true) = 'on' THEN
        RETURN NULL;
      END IF;
      mark := -(pg_current_xact_id()::text::bigint);
      PERFORM pg_advisory_xact_lock(7026001);
      UPDATE monitors SET revision = nextval('monitor_revisions') WHERE revision = mark;
      PERFORM set_config('picket.has_revisions', 'on', true);
      PERFORM pg_notify('monitors', '');
      RETURN NULL;
    END $$;

    CREATE TRIGGER monitors_inserted BEFORE INSERT ON monitors
      FOR EACH ROW EXECUTE FUNCTION mark_changed_monitor();
    CREATE TRIGGER monitors_changed BEFORE UPDATE ON monitors
      FOR EACH ROW WHEN (
        OLD.config_version IS DISTINCT FROM NEW.config_version
        OR OLD.is_paused IS DISTINCT FROM NEW.is_paused
        OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at)
      EXECUTE FUNCTION mark_changed_monitor();

    CREATE CONSTRAINT TRIGGER monitors_inserted_revision AFTER INSERT ON monitors DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.revision < 0) EXECUTE FUNCTION hand_out_monitor_revisions();
    CREATE CONSTRAINT TRIGGER monitors_changed_revision AFTER UPDATE ON monitors DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (OLD.revision <> NEW.revision AND NEW.revision < 0)
      EXECUTE FUNCTION hand_out_monitor_revisions();
  `)
