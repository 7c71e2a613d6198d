import type { Knex } from 'knex'

/**
 * The live probes of each epoch of a region: results of other probes do not count. A trigger writes it, so that it is also
 * complete while a process of an older version changes live sets. Probes that left a live set are kept for longer than
 * results (one day); the row lock of `region_epochs` protects all of it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE live_probes (
      region text NOT NULL,
      probe_id text NOT NULL,
      from_epoch integer NOT NULL,
      until_epoch integer,
      ended_at timestamptz,
      PRIMARY KEY (region, probe_id, from_epoch)
    );

    CREATE FUNCTION note_live_probes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE live_probes SET until_epoch = NEW.epoch, ended_at = clock_timestamp()
      WHERE region = NEW.region AND until_epoch IS NULL AND probe_id <> ALL (NEW.probe_ids::text[]);
      INSERT INTO live_probes (region, probe_id, from_epoch)
        SELECT NEW.region, id, NEW.epoch FROM unnest(NEW.probe_ids::text[]) id
        WHERE NOT EXISTS (SELECT FROM live_probes l WHERE l.region = NEW.region AND l.probe_id = id AND l.until_epoch IS NULL)
        ON CONFLICT (region, probe_id, from_epoch) DO UPDATE SET until_epoch = NULL, ended_at = NULL;
      DELETE FROM live_probes WHERE region = NEW.region AND ended_at < clock_timestamp() - interval '2 days';
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_live_probes AFTER INSERT OR UPDATE OF epoch, probe_ids ON region_epochs
      FOR EACH ROW EXECUTE FUNCTION note_live_probes();

    -- earlier live sets are unknown: every recently seen probe may have been live
    INSERT INTO live_probes (region, probe_id, from_epoch)
      SELECT region, unnest(probe_ids)::text, 0 FROM region_epochs;
    INSERT INTO live_probes (region, probe_id, from_epoch, until_epoch, ended_at)
      SELECT p.region, p.id::text, 0, e.epoch, now() FROM probes p JOIN region_epochs e ON e.region = p.region
      WHERE p.last_seen_at > now() - interval '1 day' AND p.id <> ALL (e.probe_ids) AND e.epoch > 0;
  `)
}
