import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { listAllIssues, type MonitoringStateReader } from '../responses/monitor-response.ts'
import type { StoredMonitor } from '../types.ts'
import { listIssueFields, listMonitors } from './list-store.ts'
import { ALL_MONITORS, type MonitorFilter, type MonitorSort } from './monitor-filter.ts'

/** A page of a list. `sort`: default by creation. */
export type MonitorPage = { limit: number; offset: number; sort: MonitorSort | undefined }

/** One page of the monitors that match a filter and have configuration issues, and how many there are. */
export async function listMonitorsWithIssues(
  db: Db,
  projectId: string,
  filter: MonitorFilter,
  { sort, ...page }: MonitorPage,
  readMonitoringState: MonitoringStateReader,
): Promise<{ rows: StoredMonitor[]; total: number }> {
  const ids = await listIdsWithIssues(db, projectId, filter, readMonitoringState)
  const list = (among: string[], bounds: typeof page) =>
    listMonitors(db, projectId, { ...ALL_MONITORS, among: { ids: among, isIncluded: true } }, bounds, sort)
  // newest first is the order of ids; the database needs only those of the page then
  const isByCreation = sort === undefined || sort === 'created'
  const rows = isByCreation
    ? await list(
        ids
          .sort()
          .toReversed()
          .slice(page.offset, page.offset + page.limit),
        { ...page, offset: 0 },
      )
    : await list(ids, page)
  return { rows, total: ids.length }
}

/**
 * The ids of the monitors that match a filter and have configuration issues. Issues depend on the address of a monitor and
 * on live probes, so they are derived from all matching rows, by the functions that build the responses.
 */
export async function listIdsWithIssues(
  db: Db,
  projectId: string,
  filter: MonitorFilter,
  readMonitoringState: MonitoringStateReader,
): Promise<string[]> {
  const monitors = await listIssueFields(db, projectId, filter)
  const state = await readMonitoringState(projectId, monitors, { withoutLastCheck: true })
  const pause = createYieldPoint()
  const ids: string[] = []
  for (const monitor of monitors) {
    if (listAllIssues(monitor, state).length > 0) ids.push(monitor.id)
    await pause()
  }
  return ids
}
