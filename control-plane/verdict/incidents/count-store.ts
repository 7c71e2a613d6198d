import { type Db, query } from '../../foundation/platform/postgres/client.ts'

/** Projects whose rows are summed up by one statement. */
const PROJECTS_AT_ONCE = 200

/**
 * Makes one row for each status and severity of the changes of some projects. True when there may be more of them. Exact
 * next to everything else: a row is deleted and counted by one statement, and what it does not see stays as it is.
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
