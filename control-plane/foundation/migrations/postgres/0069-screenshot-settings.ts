import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/** The columns of 0041 and the new one, which the database sets. */
const IGNORED = [
  'partition',
  'config_version',
  'streaks_since',
  'screenshots_since',
  'left_regions',
  'status',
  'status_changed_at',
  'ssl_expires_at',
  'domain_expires_at',
]

/**
 * A picture of a page counts only for the settings with which it was taken, and for a limited time
 * (docs/design/screenshots.md#comparison). `screenshots_since` is the config version in which a browser was last sent
 * something else, the comparison was turned on or off, or the monitor was resumed. A trigger writes it, so that processes of
 * the previous version record it as well. Existing differences count for an hour after they were found.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE monitors ADD COLUMN screenshots_since integer NOT NULL DEFAULT 1;

    CREATE FUNCTION note_screenshots_since() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.screenshots_since := NEW.config_version;
      RETURN NEW;
    END $$;

    CREATE TRIGGER monitors_screenshots_since BEFORE UPDATE ON monitors FOR EACH ROW
      WHEN (OLD.config_version IS DISTINCT FROM NEW.config_version AND
        (OLD.type, OLD.url, OLD.method, OLD.headers, OLD.auth_type, OLD.auth_config, OLD.screenshot_compare, OLD.is_paused)
        IS DISTINCT FROM
        (NEW.type, NEW.url, NEW.method, NEW.headers, NEW.auth_type, NEW.auth_config, NEW.screenshot_compare, NEW.is_paused))
      EXECUTE FUNCTION note_screenshots_since();
    DROP TRIGGER monitors_audited ON monitors;

    ALTER TABLE screenshot_baselines
      -- of the newest comparison: its settings, when it arrived, until when it counts, and whether a second one confirmed it
      ADD COLUMN config_version integer NOT NULL DEFAULT 0,
      ADD COLUMN compared_at timestamptz,
      ADD COLUMN expires_at timestamptz,
      ADD COLUMN is_confirmed boolean NOT NULL DEFAULT true;
    UPDATE screenshot_baselines b SET config_version = m.config_version, compared_at = b.updated_at,
      expires_at = b.updated_at + interval '1 hour'
    FROM monitors m WHERE m.id = b.monitor_id AND m.url = b.url;
  `)
  await addAuditTrigger(db, 'monitors', { resource: 'monitor', ignored: IGNORED })
}
