import type { Knex } from 'knex'

/**
 * The monitors of a paused data source have no status while it is paused. Those of sources that were paused before kept the
 * one of the last fetch.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    WITH held AS (
      SELECT m.id, m.status FROM monitors m JOIN data_sources s ON s.id = m.data_source_id
      WHERE s.is_paused AND m.status IS NOT NULL AND m.deleted_at IS NULL ORDER BY m.id FOR NO KEY UPDATE OF m
    ), changed AS (
      UPDATE monitors m SET status = NULL, status_changed_at = greatest(now(), m.status_changed_at)
      FROM held WHERE m.id = held.id RETURNING m.id, m.project_id, held.status, m.status_changed_at
    )
    INSERT INTO transitions (id, project_id, monitor_id, from_status, to_status, at, quorum, summary, explanation, created_at)
    SELECT uuidv7(), project_id, id, status, NULL, status_changed_at, 'full', 'The data source is paused.', '{}', now()
    FROM changed
  `)
}
