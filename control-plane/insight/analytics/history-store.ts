import type { CheckStatus } from '../../../shared/checks/result.ts'
import { type ClickhouseSource, select } from '../../foundation/platform/clickhouse.ts'
import { type Db, query } from '../../foundation/platform/postgres/client.ts'
import { RESULT_COLUMNS, type ResultRow } from './result-row.ts'
import type { UptimeChange } from './uptime/uptime.ts'

type CheckFilter = {
  regions: string[] | null
  statuses: string[] | null
  fromMs: number
  toMs: number | null
}

/** All rows of a result are in the partition of its day. */
const BY_PARTITION = 'SETTINGS do_not_merge_across_partitions_select_final = 1'

/** A page of a monitor's checks, newest first, and the total. The caller has checked the owner of the monitor. */
export async function listChecks(
  clickhouse: ClickhouseSource,
  monitorId: string,
  filter: CheckFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: ResultRow[]; total: number }> {
  const conditions = ['monitor_id = {monitor:UUID}', 'scheduled_at >= fromUnixTimestamp64Milli({fromMs:Int64})']
  if (filter.regions) conditions.push('region IN {regions:Array(String)}')
  if (filter.statuses) conditions.push('status IN {statuses:Array(String)}')
  if (filter.toMs !== null) conditions.push('scheduled_at < fromUnixTimestamp64Milli({toMs:Int64})')
  const from = `FROM results FINAL WHERE ${conditions.join(' AND ')}`
  const parameters = { monitor: monitorId, ...filter, ...page }
  const counting = `SELECT count() AS total ${from} ${BY_PARTITION}`
  const [counted] = await select<{ total: string }>(clickhouse, counting, parameters)
  const rows = await select<ResultRow>(
    clickhouse,
    `SELECT ${RESULT_COLUMNS} ${from}
     ORDER BY scheduled_at DESC, region, attempt DESC, probe_id, epoch LIMIT {limit:UInt32} OFFSET {offset:UInt32}
     ${BY_PARTITION}`,
    parameters,
  )
  return { rows, total: Number(counted?.total ?? 0) }
}

/** Checks of one region by their scheduled time, from `fromMs` until before `toMs`. */
export type CheckSelection = {
  region: string
  status: CheckStatus
  fromMs: number
  toMs: number
  attempt?: number
  probeId?: string
}

/** The newest check of a selection, or null. The caller has checked the owner of the monitor. */
export async function findNewestCheck(
  clickhouse: ClickhouseSource,
  monitorId: string,
  selection: CheckSelection,
): Promise<ResultRow | null> {
  const conditions = [
    'monitor_id = {monitor:UUID} AND region = {region:String} AND status = {status:String}',
    'scheduled_at >= fromUnixTimestamp64Milli({fromMs:Int64}) AND scheduled_at < fromUnixTimestamp64Milli({toMs:Int64})',
  ]
  if (selection.attempt !== undefined) conditions.push('attempt = {attempt:UInt32}')
  if (selection.probeId !== undefined) conditions.push('probe_id = {probeId:String}')
  const [row] = await select<ResultRow>(
    clickhouse,
    `SELECT ${RESULT_COLUMNS} FROM results FINAL WHERE ${conditions.join(' AND ')}
     ORDER BY scheduled_at DESC, attempt DESC, probe_id, epoch LIMIT 1 ${BY_PARTITION}`,
    { monitor: monitorId, ...selection },
  )
  return row ?? null
}

/** The last check of each monitor by a probe, within the last two hours. */
export async function loadLastCheckedAt(
  clickhouse: ClickhouseSource,
  monitorIds: string[],
): Promise<Map<string, Date>> {
  const rows = await select<{ id: string; ms: string }>(
    clickhouse,
    `SELECT monitor_id AS id, toUnixTimestamp64Milli(max(started_at)) AS ms FROM results
     WHERE monitor_id IN {ids:Array(UUID)} AND scheduled_at > now() - INTERVAL 2 HOUR AND status != 'missed'
     GROUP BY monitor_id`,
    { ids: monitorIds },
  )
  return new Map(rows.map(row => [row.id, new Date(Number(row.ms))]))
}

/** The last fetch of the data source of each monitor that shows one of its values; paused monitors are left out. */
export async function listLastFetches(db: Db, projectId: string, monitorIds: string[]): Promise<Map<string, Date>> {
  const rows = await query<{ id: string; at: Date }>(
    db,
    `SELECT m.id, s.last_fetched_at AS at FROM monitors m JOIN data_sources s ON s.id = m.data_source_id
     WHERE m.project_id = ? AND m.id = ANY (?::uuid[]) AND NOT m.is_paused AND s.last_fetched_at IS NOT NULL`,
    [projectId, monitorIds],
  )
  return new Map(rows.map(({ id, at }) => [id, at]))
}

/** The status at `from`, and the first `limit` changes from there to `to`. */
export async function loadStatusHistory(
  db: Db,
  projectId: string,
  monitorId: string,
  { from, to, limit }: { from: Date; to: Date; limit: number },
): Promise<{ before: UptimeChange['status']; changes: UptimeChange[] }> {
  const bindings = { projectId, monitorId, from, to, limit }
  const [before] = await query<{ status: UptimeChange['status'] }>(
    db,
    `SELECT to_status AS status FROM transitions
     WHERE project_id = :projectId AND monitor_id = :monitorId AND at <= :from ORDER BY at DESC, id DESC LIMIT 1`,
    bindings,
  )
  const changes = await query<UptimeChange>(
    db,
    `SELECT at, to_status AS status FROM transitions
     WHERE project_id = :projectId AND monitor_id = :monitorId AND at > :from AND at < :to ORDER BY at, id
     LIMIT :limit`,
    bindings,
  )
  return { before: before?.status ?? null, changes }
}
