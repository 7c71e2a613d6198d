import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { listAllIssues, type MonitoringStateReader } from '../responses/monitor-response.ts'
import { listIssueFields } from './list-store.ts'
import type { MonitorFilter } from './monitor-filter.ts'

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
