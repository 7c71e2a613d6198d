import type { Knex } from 'knex'

/**
 * The number of incidents of a project by status and severity: the sum of the rows of the project. Each statement that changes
 * incidents inserts a row and updates none, so that no transaction waits for another one. A worker compacts the rows of a
 * project to one for each status and severity (verdict/incidents/count-store.ts). Triggers write the rows, so that processes
 * of the previous version count as well.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE incident_counts (
      project_id uuid NOT NULL,
      status text NOT NULL,
      severity text NOT NULL,
      amount bigint NOT NULL,
      -- false: a change that is not compacted yet
      is_sum boolean NOT NULL DEFAULT false
    );
    CREATE INDEX incident_counts_by_project ON incident_counts (project_id);
    CREATE INDEX incident_counts_changes ON incident_counts (project_id) WHERE NOT is_sum;

    CREATE FUNCTION count_added_incidents() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO incident_counts (project_id, status, severity, amount)
      SELECT project_id, status, severity, count(*) FROM added GROUP BY 1, 2, 3;
      RETURN NULL;
    END $$;
    CREATE FUNCTION count_removed_incidents() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO incident_counts (project_id, status, severity, amount)
      SELECT project_id, status, severity, -count(*) FROM removed GROUP BY 1, 2, 3;
      RETURN NULL;
    END $$;
    CREATE FUNCTION count_changed_incidents() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO incident_counts (project_id, status, severity, amount)
      SELECT project_id, status, severity, sum(amount) FROM (
        SELECT project_id, status, severity, 1 AS amount FROM added
        UNION ALL SELECT project_id, status, severity, -1 FROM removed) AS change
      GROUP BY 1, 2, 3 HAVING sum(amount) <> 0;
      RETURN NULL;
    END $$;
    CREATE TRIGGER incidents_added AFTER INSERT ON incidents
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_incidents();
    CREATE TRIGGER incidents_removed AFTER DELETE ON incidents
      REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_incidents();
    CREATE TRIGGER incidents_changed AFTER UPDATE ON incidents
      REFERENCING OLD TABLE AS removed NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION count_changed_incidents();

    -- creating the triggers locks the table until the end of the transaction, so no incident is missed
    INSERT INTO incident_counts (project_id, status, severity, amount, is_sum)
    SELECT project_id, status, severity, count(*), true FROM incidents GROUP BY 1, 2, 3;
  `)
}
