import type { Clickhouse } from '../../foundation/platform/clickhouse.ts'
import { coalesce } from '../../foundation/platform/concurrency/coalesce.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { nowMs, withTimeout } from '../../foundation/platform/time/clock.ts'
import type { LastCheckedAt, MonitoringStateReader } from '../../monitoring/monitors/responses/monitor-response.ts'
import { listLastPings } from '../../verdict/heartbeats/store.ts'
import { loadLastCheckedAt } from './history-store.ts'

/** The maximum age of a cached time. */
const CACHE_TTL_MS = 5_000
const MAX_CACHED_MONITORS = 50_000
/** ClickHouse may be slow or unreachable; a list of monitors does not wait for it. */
const QUERY_TIMEOUT_MS = 500
/** Limits the length of the request URL. */
const MAX_IDS_PER_QUERY = 200

/**
 * The last check of monitors: for heartbeats the last ping, from PostgreSQL; for others a cache over ClickHouse, with
 * one query at a time for all callers. Monitors that were not checked, and those for which ClickHouse takes longer than
 * `timeoutMs`, are left out.
 */
export function createLastCheckedReader(
  { clickhouse, db }: { clickhouse: Clickhouse; db: Db },
  timeoutMs = QUERY_TIMEOUT_MS,
): (...asked: Parameters<MonitoringStateReader>) => Promise<LastCheckedAt> {
  const cache = new Map<string, { at: Date | null; readMs: number }>()
  const wanted = new Set<string>()

  const readWanted = coalesce(async () => {
    const readMs = nowMs()
    const ids = [...wanted]
    wanted.clear()
    if (cache.size > MAX_CACHED_MONITORS) cache.clear()
    for (let from = 0; from < ids.length; from += MAX_IDS_PER_QUERY) {
      const some = ids.slice(from, from + MAX_IDS_PER_QUERY)
      const times = await loadLastCheckedAt(clickhouse, some).catch(() => new Map<string, Date>())
      for (const id of some) cache.set(id, { at: times.get(id) ?? null, readMs })
    }
  })

  return async (projectId, monitors) => {
    const idsOf = (isHeartbeat: boolean) =>
      monitors.filter(({ type }) => (type === 'heartbeat') === isHeartbeat).map(({ id }) => id)
    const [heartbeats, checked] = [idsOf(true), idsOf(false)]
    const times = new Map(heartbeats.length > 0 ? await listLastPings(db, projectId, heartbeats) : [])
    const oldestMs = nowMs() - CACHE_TTL_MS
    const unknown = checked.filter(id => (cache.get(id)?.readMs ?? 0) < oldestMs)
    for (const id of unknown) wanted.add(id)
    if (unknown.length > 0) await withTimeout(readWanted(), timeoutMs)
    for (const id of checked) {
      const at = cache.get(id)?.at
      if (at) times.set(id, at)
    }
    return times
  }
}
