import type { Knex } from 'knex'

/** The monitors of a paused data source keep a status that may be old, so alerts of other monitors are not withheld because of it. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    CREATE OR REPLACE FUNCTION ancestors_of(ids uuid[]) RETURNS TABLE (monitor_id uuid, ancestor_id uuid, distance integer)
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
      SELECT lineage.monitor_id, lineage.ancestor_id, min(lineage.distance)::integer FROM lineage
      WHERE NOT EXISTS (
        SELECT FROM monitors m JOIN data_sources s ON s.id = m.data_source_id
        WHERE m.id = lineage.ancestor_id AND s.is_paused)
      GROUP BY 1, 2
    $$;
  `)
}
