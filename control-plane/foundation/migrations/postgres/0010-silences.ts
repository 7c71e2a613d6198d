import type { Knex } from 'knex'

/**
 * Suppression of alerts by maintenance windows and by parents that are down, and the alerts to send when it ends.
 * `caused_by_monitor_id` has no foreign key, because writing one would lock the parent's row out of order.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE maintenance_windows (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      title text NOT NULL,
      description text,
      -- null: one period from starts_at to ends_at; otherwise these two are bounds, and may be null
      cron text,
      duration_minutes integer,
      time_zone text,
      starts_at timestamptz,
      ends_at timestamptz,
      -- the start of the latest planned period; when it begins, the next one is planned; null: there is no next one
      planned_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX maintenance_windows_by_project ON maintenance_windows (project_id, id DESC);
    CREATE INDEX maintenance_windows_planned ON maintenance_windows (planned_at) WHERE planned_at IS NOT NULL;
    CREATE TABLE maintenance_window_monitors (
      window_id uuid NOT NULL REFERENCES maintenance_windows ON DELETE CASCADE,
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      PRIMARY KEY (window_id, monitor_id)
    );

    -- past and next maintenance periods; a period that has begun outlives its window
    CREATE TABLE maintenance_periods (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      monitor_id uuid NOT NULL,
      window_id uuid NOT NULL,
      starts_at timestamptz NOT NULL,
      ends_at timestamptz NOT NULL CHECK (ends_at > starts_at),
      PRIMARY KEY (monitor_id, starts_at, window_id)
    );
    CREATE INDEX maintenance_periods_by_end ON maintenance_periods (monitor_id, ends_at);
    CREATE INDEX maintenance_periods_by_window ON maintenance_periods (window_id, ends_at);

    CREATE TABLE monitor_parents (
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      parent_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      PRIMARY KEY (monitor_id, parent_id),
      CHECK (monitor_id <> parent_id)
    );
    CREATE INDEX monitor_parents_by_parent ON monitor_parents (parent_id);

    -- a row exists while alerts are suppressed; it is written while the row of its monitor is locked
    CREATE TABLE silences (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      -- the last published status, and the suppressed one (verdict/suppression)
      withheld jsonb NOT NULL,
      reason text NOT NULL CHECK (reason IN ('maintenance', 'parent', 'grace', 'doubt', 'turn')),
      is_parent_down boolean NOT NULL,
      grace_until timestamptz,
      doubt_until timestamptz,
      -- whether checks of its parents were requested, and succeeded
      is_asked boolean NOT NULL,
      is_answered boolean NOT NULL,
      due_at timestamptz NOT NULL
    );
    CREATE INDEX silences_to_ask ON silences (monitor_id) WHERE reason = 'doubt' AND NOT is_asked;
    CREATE INDEX silences_due ON silences (due_at);

    ALTER TABLE transitions ADD COLUMN caused_by_monitor_id uuid;
    ALTER TABLE incidents ADD COLUMN caused_by_monitor_id uuid;

    -- not through monitors that are deleted: nobody could see why
    CREATE FUNCTION ancestors_of(ids uuid[]) RETURNS TABLE (monitor_id uuid, ancestor_id uuid, distance integer)
    LANGUAGE sql STABLE AS $$
      WITH RECURSIVE lineage (monitor_id, ancestor_id, distance) AS (
        SELECT p.monitor_id, p.parent_id, 1
        FROM monitor_parents p JOIN monitors m ON m.id = p.parent_id AND m.deleted_at IS NULL
        WHERE p.monitor_id = ANY (ids)
        UNION
        SELECT lineage.monitor_id, p.parent_id, lineage.distance + 1
        FROM lineage JOIN monitor_parents p ON p.monitor_id = lineage.ancestor_id
          JOIN monitors m ON m.id = p.parent_id AND m.deleted_at IS NULL
        WHERE lineage.distance < 32
      )
      SELECT lineage.monitor_id, lineage.ancestor_id, min(lineage.distance)::integer FROM lineage GROUP BY 1, 2
    $$;

    -- for whoever tells of monitors outside the verdict: those of which nothing is to be sent at a time
    CREATE FUNCTION silenced_monitors(ids uuid[], moment timestamptz) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
      SELECT monitor_id FROM silences WHERE monitor_id = ANY (ids)
      UNION
      SELECT monitor_id FROM maintenance_periods
      WHERE monitor_id = ANY (ids) AND starts_at <= moment AND ends_at > moment
      UNION
      SELECT kin.monitor_id FROM ancestors_of(ids) kin JOIN monitors ON monitors.id = kin.ancestor_id
      WHERE monitors.status = 'down'
    $$;
  `)
}
