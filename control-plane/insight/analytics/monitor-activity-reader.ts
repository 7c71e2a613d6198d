import type { Clickhouse } from '../../foundation/platform/clickhouse.ts'
import { coalesce } from '../../foundation/platform/concurrency/coalesce.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../foundation/platform/time/clock.ts'
import { listRegionEpochs } from '../../monitoring/fleet/live-sets/store.ts'
import type { MonitoringStateReader } from '../../monitoring/monitors/responses/monitor-response.ts'
import type { LiveCheckTypes } from '../../monitoring/monitors/settings/configuration-issues.ts'
import { loadUncheckedSince } from '../../verdict/core/store.ts'
import { createLastCheckedReader } from './checks/last-checked-reader.ts'

/** The maximum age of cached data about probes. */
const CACHE_TTL_MS = 2_000

/**
 * The monitoring state of monitors: the last check, since when no check has counted, and the capabilities of the live
 * probes of each region.
 */
export function createMonitorActivityReader(tools: { clickhouse: Clickhouse; db: Db }): MonitoringStateReader {
  const lastCheckedAt = createLastCheckedReader(tools)
  let liveTypes: LiveCheckTypes = new Map()
  let readMs = Number.NEGATIVE_INFINITY
  const readTypes = coalesce(async () => {
    const startedMs = monotonicMs()
    const epochs = await listRegionEpochs(tools.db)
    liveTypes = new Map(
      epochs.map(({ region, probes }) => [region, new Set(probes.flatMap(({ capabilities }) => capabilities))]),
    )
    readMs = startedMs
  })
  return async (projectId, monitors, { withoutLastCheck = false } = {}) => {
    if (monotonicMs() - readMs > CACHE_TTL_MS) await readTypes()
    const withoutStatus = monitors.filter(({ status }) => status === null).map(({ id }) => id)
    const [checkedAt, since] = await Promise.all([
      withoutLastCheck ? new Map<string, Date>() : lastCheckedAt(projectId, monitors),
      loadUncheckedSince(tools.db, withoutStatus),
    ])
    return { lastCheckedAt: checkedAt, liveTypes, uncheckedSince: since }
  }
}
