import type { Knex } from 'knex'

/**
 * What the verdict decided by, so that past decisions can be repeated (docs/design/rehearsal.md): the settings of monitors
 * that the rules use, and the epochs, live probes and absences of regions. Triggers write both, so that they are also
 * complete while a process of an older version changes rows. Replaced rows are deleted after 35 days, at the next change.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE monitor_policies (
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      at timestamptz NOT NULL,
      config_version integer NOT NULL,
      streaks_since integer NOT NULL,
      regions text[] NOT NULL,
      retry_count integer NOT NULL,
      interval_seconds integer NOT NULL,
      timeout_ms integer NOT NULL,
      witness boolean NOT NULL,
      is_paused boolean NOT NULL,
      PRIMARY KEY (monitor_id, at, config_version)
    );

    CREATE FUNCTION note_monitor_policy() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO monitor_policies
        VALUES (NEW.id, clock_timestamp(), NEW.config_version, NEW.streaks_since, NEW.regions, NEW.retry_count,
                NEW.interval_seconds, NEW.timeout_ms, NEW.witness, NEW.is_paused)
        ON CONFLICT DO NOTHING;
      IF TG_OP = 'UPDATE' THEN
        DELETE FROM monitor_policies p WHERE p.monitor_id = NEW.id AND (
          p.at < (SELECT max(at) FROM monitor_policies
                  WHERE monitor_id = NEW.id AND at < clock_timestamp() - interval '35 days')
          OR p.at < (SELECT at FROM monitor_policies WHERE monitor_id = NEW.id ORDER BY at DESC OFFSET 499 LIMIT 1));
      END IF;
      RETURN NULL;
    END $$;

    CREATE TRIGGER monitors_policy_created AFTER INSERT ON monitors FOR EACH ROW EXECUTE FUNCTION note_monitor_policy();
    CREATE TRIGGER monitors_policy_changed AFTER UPDATE ON monitors FOR EACH ROW
      WHEN ((OLD.streaks_since, OLD.regions, OLD.retry_count, OLD.interval_seconds, OLD.timeout_ms, OLD.witness,
             OLD.is_paused)
        IS DISTINCT FROM (NEW.streaks_since, NEW.regions, NEW.retry_count, NEW.interval_seconds, NEW.timeout_ms,
             NEW.witness, NEW.is_paused))
      EXECUTE FUNCTION note_monitor_policy();

    CREATE TABLE region_changes (
      region text NOT NULL,
      at timestamptz NOT NULL,
      epoch integer NOT NULL,
      probe_ids text[] NOT NULL,
      absent_from timestamptz,
      absent_until timestamptz,
      PRIMARY KEY (region, at, epoch)
    );

    CREATE FUNCTION note_region_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO region_changes
        VALUES (NEW.region, clock_timestamp(), NEW.epoch, NEW.probe_ids::text[], NEW.absent_from, NEW.absent_until)
        ON CONFLICT DO NOTHING;
      DELETE FROM region_changes WHERE region = NEW.region AND at < (
        SELECT max(at) FROM region_changes
        WHERE region = NEW.region AND at < clock_timestamp() - interval '35 days');
      RETURN NULL;
    END $$;

    CREATE TRIGGER note_region_created AFTER INSERT ON region_epochs FOR EACH ROW EXECUTE FUNCTION note_region_change();
    CREATE TRIGGER note_region_changed AFTER UPDATE ON region_epochs FOR EACH ROW
      WHEN ((OLD.epoch, OLD.probe_ids, OLD.absent_from, OLD.absent_until)
        IS DISTINCT FROM (NEW.epoch, NEW.probe_ids, NEW.absent_from, NEW.absent_until))
      EXECUTE FUNCTION note_region_change();

    INSERT INTO region_changes
      SELECT region, clock_timestamp(), epoch, probe_ids::text[], absent_from, absent_until FROM region_epochs;
  `)
}
