import { type Db, query } from '../../foundation/platform/postgres/client.ts'

/** Number of projects whose rows one statement sums up. */
const PROJECTS_AT_ONCE = 200

/**
 * Replaces the rows of some projects by one row for each status and severity. Returns true if there may be more
 * projects. Concurrent changes are safe: one statement deletes and sums the rows that it sees, and other rows stay.
 */
export async function compactIncidentCounts(db: Db): Promise<boolean> {
  const [row] = await query<{ projects: number }>(
    db,
    `WITH due AS (SELECT DISTINCT project_id FROM incident_counts WHERE NOT is_sum LIMIT :most),
       gone AS (DELETE FROM incident_counts c USING due WHERE c.project_id = due.project_id
                RETURNING c.project_id, c.status, c.severity, c.amount),
       sums AS (INSERT INTO incident_counts (project_id, status, severity, amount, is_sum)
                SELECT project_id, status, severity, sum(amount), true FROM gone
                GROUP BY 1, 2, 3 HAVING sum(amount) <> 0)
     SELECT count(*)::integer AS projects FROM due`,
    { most: PROJECTS_AT_ONCE },
  )
  return row!.projects === PROJECTS_AT_ONCE
}
