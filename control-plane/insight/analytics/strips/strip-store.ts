import { type ClickhouseSource, select } from '../../../foundation/platform/clickhouse.ts'
import { type Db, query } from '../../../foundation/platform/postgres/client.ts'

/** Those of the ids that are monitors of the project, without deleted ones. `ids` must be valid ids. */
export async function findOwnMonitorIds(db: Db, projectId: string, ids: string[]): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    db,
    'SELECT id FROM monitors WHERE project_id = ? AND id = ANY (?::uuid[]) AND deleted_at IS NULL',
    [projectId, ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** The 95th percentile of successful checks of the last 24 hours, in ms, by monitor. The caller has checked the owner. */
export async function loadDailyP95(clickhouse: ClickhouseSource, monitorIds: string[]): Promise<Map<string, number>> {
  const rows = await select<{ id: string; p95: number }>(
    clickhouse,
    `SELECT monitor_id AS id, quantileExact(0.95)(total_us) / 1000 AS p95 FROM results FINAL
     WHERE monitor_id IN {ids:Array(UUID)} AND status IN ('up', 'degraded')
       AND scheduled_at > now() - INTERVAL 24 HOUR
     GROUP BY monitor_id
     SETTINGS do_not_merge_across_partitions_select_final = 1`,
    { ids: monitorIds },
  )
  return new Map(rows.map(({ id, p95 }) => [id, p95]))
}
