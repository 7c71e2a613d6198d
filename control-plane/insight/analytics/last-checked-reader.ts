import type { Clickhouse } from '../../foundation/platform/clickhouse.ts'
import { coalesce } from '../../foundation/platform/concurrency/coalesce.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { nowMs, withTimeout } from '../../foundation/platform/time/clock.ts'
import type { LastCheckedAt, MonitoringStateReader } from '../../monitoring/monitors/responses/monitor-response.ts'
import { listLastPings } from '../../verdict/heartbeats/store.ts'
import { loadLastCheckedAt } from './history-store.ts'

/** How old an answer may be (house.md, the flow). */
const CACHE_TTL_MS = 5_000
const MAX_CACHED_MONITORS = 50_000
/** The history may be slow or away; a list of monitors does not wait for it. */
const QUERY_TIMEOUT_MS = 500
/** They travel in the address of the request. */
const MAX_IDS_PER_QUERY = 200

/**
 * When monitors were last checked: heartbeats when they were last pinged, from PostgreSQL, the others from a cache over
 * ClickHouse, which is asked one query at a time for all who wait. Empty for those it does not know, and for those that
 * it asks ClickHouse about while that takes longer than `patienceMs`.
 */
export function createLastCheckedReader(
  { clickhouse, db }: { clickhouse: Clickhouse; db: Db },
  patienceMs = QUERY_TIMEOUT_MS,
): (...asked: Parameters<MonitoringStateReader>) => Promise<LastCheckedAt> {
  const kept = new Map<string, { at: Date | null; readMs: number }>()
  const wanted = new Set<string>()

  const readWanted = coalesce(async () => {
    const readMs = nowMs()
    const ids = [...wanted]
    wanted.clear()
    if (kept.size > MAX_CACHED_MONITORS) kept.clear()
    for (let from = 0; from < ids.length; from += MAX_IDS_PER_QUERY) {
      const some = ids.slice(from, from + MAX_IDS_PER_QUERY)
      const times = await loadLastCheckedAt(clickhouse, some).catch(() => new Map<string, Date>())
      for (const id of some) kept.set(id, { at: times.get(id) ?? null, readMs })
    }
  })

  return async (projectId, monitors) => {
    const idsOf = (isHeartbeat: boolean) =>
      monitors.filter(({ type }) => (type === 'heartbeat') === isHeartbeat).map(({ id }) => id)
    const [heartbeats, checked] = [idsOf(true), idsOf(false)]
    const times = new Map(heartbeats.length > 0 ? await listLastPings(db, projectId, heartbeats) : [])
    const oldestMs = nowMs() - CACHE_TTL_MS
    const unknown = checked.filter(id => (kept.get(id)?.readMs ?? 0) < oldestMs)
    for (const id of unknown) wanted.add(id)
    if (unknown.length > 0) await withTimeout(readWanted(), patienceMs)
    for (const id of checked) {
      const at = kept.get(id)?.at
      if (at) times.set(id, at)
    }
    return times
  }
}
