import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** The columns of 0018 and the new one, which the database sets. */
const IGNORED = [
  'partition',
  'config_version',
  'streaks_since',
  'status',
  'status_changed_at',
  'ssl_expires_at',
  'domain_expires_at',
]

/**
 * The config version in which the target or the assertions of a monitor changed last. Consecutive failures count from there:
 * a change of anything else, such as a header that rotates every minute, does not restart the count.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE monitors ADD COLUMN streaks_since integer NOT NULL DEFAULT 1;

    CREATE FUNCTION note_streaks_since() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.streaks_since := NEW.config_version;
      RETURN NEW;
    END $$;

    CREATE TRIGGER monitors_streaks_since BEFORE UPDATE ON monitors FOR EACH ROW
      WHEN (OLD.config_version IS DISTINCT FROM NEW.config_version AND (
        OLD.type IS DISTINCT FROM NEW.type OR OLD.url IS DISTINCT FROM NEW.url
        OR OLD.assertions IS DISTINCT FROM NEW.assertions
        OR OLD.keyword IS DISTINCT FROM NEW.keyword OR OLD.keyword_type IS DISTINCT FROM NEW.keyword_type))
      EXECUTE FUNCTION note_streaks_since();
    DROP TRIGGER monitors_audited ON monitors;
  `)
  await addAuditTrigger(db, 'monitors', { resource: 'monitor', ignored: IGNORED })
}
