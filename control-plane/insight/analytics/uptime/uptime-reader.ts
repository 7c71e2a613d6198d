import { collectInChunks } from '../../../foundation/platform/concurrency/collect.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { listPeriods } from '../../../verdict/maintenance/store.ts'
import { loadStatusHistory } from '../history-store.ts'
import { markMaintenance } from './maintenance-intervals.ts'
import { listStatusTimes } from './status-time-store.ts'
import { MAX_RANGE_MS, type TimeRange } from './time-range.ts'
import { buildIntervals, computeUptime } from './uptime.ts'
import { MAX_INTERVALS, type UptimeHistory } from './uptime-response.ts'

/**
 * The uptime of a monitor and its first `MAX_INTERVALS` intervals. PostgreSQL adds up the time after them, so that no more
 * changes than those are in memory. The caller has checked the owner of the monitor.
 */
export async function readUptime(
  db: Db,
  projectId: string,
  monitorId: string,
  span: TimeRange,
): Promise<UptimeHistory> {
  const { from, to } = span
  const limit = MAX_INTERVALS + 1
  const { before, changes } = await loadStatusHistory(db, projectId, monitorId, { from, to, limit })
  const end = changes.length < limit ? to : changes.at(-1)!.at
  const periods = await listPeriods(db, projectId, monitorId, from, end)
  const marked = markMaintenance(buildIntervals(before, changes, from, end), periods)
  const intervals = await collectInChunks(marked, createYieldPoint(), MAX_INTERVALS)
  const listedUntil = intervals.at(-1)?.to ?? from
  const isTruncated = listedUntil < to
  const rest = { from: listedUntil, now: to, stepMs: MAX_RANGE_MS }
  const uptime = computeUptime(intervals, isTruncated ? await listStatusTimes(db, [monitorId], rest) : [])
  return { span, uptime, intervals, isTruncated }
}
