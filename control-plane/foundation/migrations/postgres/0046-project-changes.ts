import type { Knex } from 'knex'

/**
 * A short log of what changed in each project, for the board and the event stream (docs/design/live.md). A row is written
 * in the transaction of the change, once a statement and project. `xid` orders it: a reader that kept a snapshot reads the
 * rows that this snapshot did not see, so no row is skipped that commits late. NOTIFY is a hint, sent once a transaction and
 * project. The triggers read new rows only, because a join of two transition tables would have a plan for few rows.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE TABLE project_changes (
      project_id uuid NOT NULL,
      kind text NOT NULL CHECK (kind IN ('monitor', 'incident', 'delivery', 'channel', 'maintenance')),
      ids text[] NOT NULL,
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
      at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX project_changes_by_project ON project_changes (project_id, xid);
    CREATE INDEX project_changes_by_age ON project_changes (at);

    -- the rows "changed" have columns project_id and id; the trigger's argument is the kind
    CREATE FUNCTION note_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE noted uuid;
    BEGIN
      FOR noted IN
        INSERT INTO project_changes (project_id, kind, ids)
        SELECT project_id, TG_ARGV[0], array_agg(id::text) FROM changed GROUP BY project_id
        RETURNING project_id
      LOOP
        PERFORM pg_notify('project_changes', noted::text);
      END LOOP;
      RETURN NULL;
    END $$;

    -- rows that belong to a monitor
    CREATE FUNCTION note_state_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE noted uuid;
    BEGIN
      FOR noted IN
        INSERT INTO project_changes (project_id, kind, ids)
        SELECT m.project_id, 'monitor', array_agg(m.id::text)
        FROM changed c JOIN monitors m ON m.id = c.monitor_id GROUP BY m.project_id
        RETURNING project_id
      LOOP
        PERFORM pg_notify('project_changes', noted::text);
      END LOOP;
      RETURN NULL;
    END $$;

    CREATE FUNCTION note_incident_updates() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE noted uuid;
    BEGIN
      FOR noted IN
        INSERT INTO project_changes (project_id, kind, ids)
        SELECT i.project_id, 'incident', array_agg(DISTINCT i.id::text)
        FROM changed c JOIN incidents i ON i.id = c.incident_id GROUP BY i.project_id
        RETURNING project_id
      LOOP
        PERFORM pg_notify('project_changes', noted::text);
      END LOOP;
      RETURN NULL;
    END $$;

    -- readers need the first ids only; deliveries to subscribers of pages, and those that were only prepared, are left out
    CREATE FUNCTION note_delivery_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE noted uuid;
    BEGIN
      FOR noted IN
        INSERT INTO project_changes (project_id, kind, ids)
        SELECT project_id, 'delivery', (array_agg(id))[1:101] FROM changed
        WHERE subscriber_id IS NULL AND (TG_OP = 'INSERT' OR status <> 'pending' OR attempts <> '[]') GROUP BY project_id
        RETURNING project_id
      LOOP
        PERFORM pg_notify('project_changes', noted::text);
      END LOOP;
      RETURN NULL;
    END $$;

    -- only channels that the API lists: not those of persons and of subscribers of pages
    CREATE FUNCTION note_channel_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE noted uuid;
    BEGIN
      FOR noted IN
        INSERT INTO project_changes (project_id, kind, ids)
        SELECT project_id, 'channel', array_agg(id::text) FROM changed
        WHERE page_id IS NULL AND person_id IS NULL GROUP BY project_id
        RETURNING project_id
      LOOP
        PERFORM pg_notify('project_changes', noted::text);
      END LOOP;
      RETURN NULL;
    END $$;

    ${TRIGGERS.map(buildTriggersSql).join('\n')}
  `)
}

type NotedTable = { table: string; function: string; operations: ('INSERT' | 'UPDATE' | 'DELETE')[] }

const ALL = ['INSERT', 'UPDATE', 'DELETE'] as const

/** Deliveries are deleted by retention only, long after anyone watches them. */
const TRIGGERS: NotedTable[] = [
  { table: 'monitors', function: `note_changes('monitor')`, operations: [...ALL] },
  { table: 'verdict_states', function: 'note_state_changes()', operations: [...ALL] },
  { table: 'incidents', function: `note_changes('incident')`, operations: [...ALL] },
  { table: 'incident_updates', function: 'note_incident_updates()', operations: [...ALL] },
  { table: 'deliveries', function: 'note_delivery_changes()', operations: ['INSERT', 'UPDATE'] },
  { table: 'alert_channels', function: 'note_channel_changes()', operations: [...ALL] },
  { table: 'maintenance_windows', function: `note_changes('maintenance')`, operations: [...ALL] },
]

const buildTriggersSql = ({ table, function: body, operations }: NotedTable): string =>
  operations
    .map(
      operation => `CREATE TRIGGER ${table}_noted_on_${operation.toLowerCase()} AFTER ${operation} ON ${table}
        REFERENCING ${operation === 'DELETE' ? 'OLD' : 'NEW'} TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION ${body};`,
    )
    .join('\n')
