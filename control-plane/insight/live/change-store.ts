import { type Db, execute, query } from '../../foundation/platform/postgres/client.ts'
import type { ChangeKind, ProjectChanges } from './changes.ts'
import { type LogPosition, MAX_POSITION_AGE_MS } from './position.ts'

/** A range of the log of one project: the changes that `since` does not see. null: none. */
type ChangeRange = { projectId: string; since: string | null }

/**
 * Reads several ranges of the log by one snapshot, which is the returned position: the changes of a range that this snapshot
 * sees, in the order of `ranges`. `until`: only those that this earlier snapshot sees. Ids are distinct and in no order.
 */
export async function readChanges(
  db: Db,
  ranges: readonly ChangeRange[],
  until: string | null = null,
): Promise<{ position: LogPosition; changes: ProjectChanges[] }> {
  const [row] = await query<{ snapshot: string; atMs: number; noted: [number, ChangeKind, string[]][] }>(
    db,
    `SELECT CAST(pg_current_snapshot() AS text) AS snapshot,
       CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS "atMs",
       (SELECT coalesce(json_agg(json_build_array(n, kind, ids)), '[]') FROM (
          SELECT r.n, c.kind, array_agg(DISTINCT noted.id) AS ids
          FROM unnest(CAST(:projects AS uuid[]), CAST(:since AS text[])) WITH ORDINALITY AS r (project_id, since, n)
          JOIN project_changes c ON c.project_id = r.project_id
            AND c.xid >= pg_snapshot_xmin(CAST(nullif(r.since, '') AS pg_snapshot))
            AND NOT pg_visible_in_snapshot(c.xid, CAST(nullif(r.since, '') AS pg_snapshot)),
          unnest(c.ids) AS noted (id)
          WHERE CAST(:until AS text) IS NULL OR pg_visible_in_snapshot(c.xid, CAST(CAST(:until AS text) AS pg_snapshot))
          GROUP BY r.n, c.kind) AS by_range) AS noted`,
    { projects: ranges.map(({ projectId }) => projectId), since: ranges.map(({ since }) => since ?? ''), until },
  )
  const { snapshot, atMs, noted } = row!
  const changes = ranges.map(() => new Map<ChangeKind, string[]>())
  for (const [n, kind, ids] of noted) changes[n - 1]!.set(kind, ids)
  return { position: { snapshot, atMs }, changes }
}

/** Deletes at most `limit` rows of the log that no position needs. Returns how many. */
export function deleteOldChanges(db: Db, limit: number): Promise<number> {
  return execute(
    db,
    `DELETE FROM project_changes WHERE ctid IN (
       SELECT ctid FROM project_changes WHERE at < clock_timestamp() - :keptMs * interval '1 ms'
       ORDER BY at LIMIT :limit FOR UPDATE SKIP LOCKED)`,
    { keptMs: 2 * MAX_POSITION_AGE_MS, limit },
  )
}
