import { type ClickhouseSource, select } from '../../../foundation/platform/clickhouse.ts'
import { limitConcurrency } from '../../../foundation/platform/concurrency/concurrency-limit.ts'
import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { IncidentStatistics, MonitorCounts, UptimeWindow, WindowStatusTime } from './summary.ts'

/** A project's monitors by status. */
export async function countMonitors(db: Db, projectId: string): Promise<MonitorCounts> {
  const [counts] = await query<MonitorCounts>(
    db,
    `SELECT count(*) AS total,
       count(*) FILTER (WHERE status = 'up') AS up,
       count(*) FILTER (WHERE status = 'down') AS down,
       count(*) FILTER (WHERE status = 'degraded') AS degraded,
       count(*) FILTER (WHERE is_paused) AS paused,
       count(*) FILTER (WHERE status IS NULL AND NOT is_paused) AS pending
     FROM monitors WHERE project_id = ? AND deleted_at IS NULL`,
    [projectId],
  )
  return counts!
}

/** Open incidents of a project, and those that were resolved or acknowledged recently. Means are in seconds. */
export async function loadIncidentStatistics(db: Db, projectId: string, since: { day: Date; month: Date }) {
  const [figures] = await query<IncidentStatistics>(
    db,
    `SELECT count(*) FILTER (WHERE resolved_at IS NULL) AS open,
       count(*) FILTER (WHERE resolved_at IS NULL AND acknowledged_at IS NOT NULL) AS acknowledged,
       count(*) FILTER (WHERE resolved_at > :day) AS resolved_24h,
       round(extract(epoch FROM avg(resolved_at - started_at)))::integer AS mttr_seconds_30d,
       round(extract(epoch FROM avg(acknowledged_at - started_at) FILTER (WHERE acknowledged_at > :month)))::integer
         AS mtta_seconds_30d
     FROM incidents WHERE project_id = :projectId AND (resolved_at IS NULL OR resolved_at > :month)`,
    { projectId, ...since },
  )
  return figures!
}

/**
 * The time of all monitors of a project together in each status, by window, until `now`. The oldest window must come
 * first. Time without a status (paused, before the first verdict) and maintenance are left out.
 */
export function sumTimeInStatus(
  db: Db,
  projectId: string,
  windows: UptimeWindow[],
  now: Date,
): Promise<WindowStatusTime[]> {
  return query<WindowStatusTime>(
    db,
    `WITH history AS (
       SELECT m.id AS monitor_id, change.* FROM monitors m CROSS JOIN LATERAL (
         (SELECT id, at, to_status FROM transitions WHERE monitor_id = m.id AND at <= :oldest
          ORDER BY at DESC, id DESC LIMIT 1)
         UNION ALL
         SELECT id, at, to_status FROM transitions WHERE monitor_id = m.id AND at > :oldest AND at < :now
       ) change
       WHERE m.project_id = :projectId AND m.deleted_at IS NULL
     ), spans AS (
       SELECT monitor_id, to_status AS status, at AS began,
         lead(at, 1, :now) OVER (PARTITION BY monitor_id ORDER BY at, id) AS ended
       FROM history
     ), maintenance AS (
       SELECT monitor_id, range_agg(tstzrange(starts_at, ends_at)) AS periods FROM maintenance_periods
       WHERE project_id = :projectId AND ends_at > :oldest AND starts_at < :now GROUP BY monitor_id
     ), counted AS (
       SELECT status, lower(part) AS began, upper(part) AS ended
       FROM spans LEFT JOIN maintenance USING (monitor_id),
         unnest(tstzmultirange(tstzrange(began, ended)) - coalesce(periods, '{}')) AS part
       WHERE ended > began
     )
     SELECT name AS "window", status, sum(extract(epoch FROM ended - greatest(began, since)))::float8 AS seconds
     FROM counted JOIN unnest(CAST(:names AS text[]), CAST(:starts AS timestamptz[])) AS span (name, since) ON ended > since
     WHERE status IS NOT NULL
     GROUP BY name, status`,
    {
      projectId,
      now,
      oldest: windows[0]!.since,
      names: windows.map(({ name }) => name),
      starts: windows.map(({ since }) => since.toISOString()),
    },
  )
}

/** The monitors that probes check. */
export async function listCheckedMonitorIds(db: Db, projectId: string): Promise<string[]> {
  const sql = `SELECT id FROM monitors WHERE project_id = ? AND deleted_at IS NULL AND type <> 'heartbeat'
    AND data_source_id IS NULL`
  return (await query<{ id: string }>(db, sql, [projectId])).map(({ id }) => id)
}

/** Limits the length of the request URL. */
const MAX_IDS_PER_QUERY = 200
/** Leaves a read of the project for other requests. */
const MAX_CONCURRENT_COUNTS = 2

/** The number of checks of the monitors in the last 24 hours, re-checks included. */
export async function countChecks(clickhouse: ClickhouseSource, monitorIds: string[]): Promise<number> {
  const parts = Array.from({ length: Math.ceil(monitorIds.length / MAX_IDS_PER_QUERY) }, (_, i) =>
    monitorIds.slice(i * MAX_IDS_PER_QUERY, (i + 1) * MAX_IDS_PER_QUERY),
  )
  const inTurn = limitConcurrency(MAX_CONCURRENT_COUNTS)
  const counts = await Promise.all(
    parts.map(ids =>
      inTurn(() =>
        select<{ total: string }>(
          clickhouse,
          `SELECT count() AS total FROM results FINAL
           WHERE monitor_id IN {ids:Array(UUID)} AND scheduled_at > now() - INTERVAL 24 HOUR AND status != 'missed'
           SETTINGS do_not_merge_across_partitions_select_final = 1`,
          { ids },
        ),
      ),
    ),
  )
  return counts.reduce((sum, [count]) => sum + Number(count!.total), 0)
}
