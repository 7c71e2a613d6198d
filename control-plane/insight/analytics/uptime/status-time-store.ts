import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { MonitorStatusTime } from './status-time.ts'

/**
 * The time of monitors in each status from `from` to `now`, by their transitions (docs/design/history.md#uptime). Before
 * its first transition, a monitor has no status. Spans within one cell of `stepMs` are added up, so a monitor that flaps for
 * weeks is not more expensive than others. The caller has checked the owner of the monitors.
 */
export function listStatusTimes(
  db: Db,
  monitorIds: string[],
  { from, now, stepMs }: { from: Date; now: Date; stepMs: number },
): Promise<MonitorStatusTime[]> {
  return query(
    db,
    `WITH history AS (
       SELECT m.id AS monitor_id, change.* FROM monitors m CROSS JOIN LATERAL (
         (SELECT id, at, to_status FROM transitions WHERE monitor_id = m.id AND at <= :from
          ORDER BY at DESC, id DESC LIMIT 1)
         UNION ALL
         SELECT CAST(NULL AS uuid), CAST(:from AS timestamptz), NULL
         WHERE NOT EXISTS (SELECT FROM transitions WHERE monitor_id = m.id AND at <= :from)
         UNION ALL
         SELECT id, at, to_status FROM transitions WHERE monitor_id = m.id AND at > :from AND at < :now
       ) change
       WHERE m.id = ANY (CAST(:monitorIds AS uuid[]))
     ), spans AS (
       SELECT monitor_id, to_status AS status, tstzrange(greatest(at, :from),
         lead(at, 1, :now) OVER (PARTITION BY monitor_id ORDER BY at, id NULLS FIRST)) AS span
       FROM history
     ), maintenance AS (
       SELECT monitor_id, range_agg(tstzrange(starts_at, ends_at)) AS periods FROM maintenance_periods
       WHERE monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND ends_at > :from AND starts_at < :now
       GROUP BY monitor_id
     ), parts AS (
       SELECT monitor_id, status, false AS is_maintenance, part FROM spans LEFT JOIN maintenance USING (monitor_id),
         unnest(tstzmultirange(span) - coalesce(periods, '{}')) AS part
       UNION ALL
       SELECT monitor_id, status, true, part FROM spans JOIN maintenance USING (monitor_id),
         unnest(tstzmultirange(span) * periods) AS part
     ), cells AS (
       SELECT *, date_bin(CAST(:step AS interval), lower(part), to_timestamp(0)) AS cell, upper(part) AS ended FROM parts
     )
     SELECT monitor_id AS "monitorId", status, is_maintenance AS "isMaintenance", min(lower(part)) AS "from",
       max(ended) AS "to", CAST(sum(extract(epoch FROM ended - lower(part))) AS float8) AS seconds
     FROM cells
     GROUP BY monitor_id, status, is_maintenance, cell,
       CASE WHEN ended > cell + CAST(:step AS interval) THEN ended END`,
    { monitorIds, from, now, step: `${stepMs / 1_000} seconds` },
  )
}
