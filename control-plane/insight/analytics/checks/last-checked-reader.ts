import { type Clickhouse, readAs } from '../../../foundation/platform/clickhouse.ts'
import { coalesce } from '../../../foundation/platform/concurrency/coalesce.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, withTimeout } from '../../../foundation/platform/time/clock.ts'
import type { LastCheckedAt, MonitoringStateReader } from '../../../monitoring/monitors/responses/monitor-response.ts'
import { listLastPings } from '../../../verdict/heartbeats/store.ts'
import { listLastFetches, loadLastCheckedAt } from '../history-store.ts'

/** The maximum age of a cached time. */
const CACHE_TTL_MS = 5_000
const MAX_CACHED_MONITORS = 50_000
/** ClickHouse may be slow or unreachable; a list of monitors does not wait for it. */
const WAIT_MS = 500
/** The reading goes on for lists that come later. */
const READ_TIMEOUT_MS = 5_000
/** Limits the length of the request URL. */
const MAX_IDS_PER_QUERY = 200

/**
 * The last check of monitors: for heartbeats the last ping and for values of data sources the last fetch, from
 * PostgreSQL; for others, and for paused monitors of data sources, a cache over ClickHouse, with one query at a time for
 * all callers. Monitors that were not checked, and those for which ClickHouse takes longer than
 * `waitMs`, are left out.
 */
export function createLastCheckedReader(
  { clickhouse, db }: { clickhouse: Clickhouse; db: Db },
  waitMs = WAIT_MS,
): (...asked: Parameters<MonitoringStateReader>) => Promise<LastCheckedAt> {
  const cache = new Map<string, { at: Date | null; readMs: number }>()
  const wanted = new Set<string>()

  const readWanted = coalesce(async () => {
    const readMs = monotonicMs()
    const ids = [...wanted]
    wanted.clear()
    if (cache.size > MAX_CACHED_MONITORS) cache.clear()
    const share = { key: 'last checks', timeoutMs: Math.max(waitMs, READ_TIMEOUT_MS) }
    await readAs(clickhouse, share, async reads => {
      for (let from = 0; from < ids.length; from += MAX_IDS_PER_QUERY) {
        const some = ids.slice(from, from + MAX_IDS_PER_QUERY)
        const times = await loadLastCheckedAt(reads, some)
        for (const id of some) cache.set(id, { at: times.get(id) ?? null, readMs })
      }
    }).catch(() => {
      for (const id of ids) if (cache.get(id)?.readMs !== readMs) cache.set(id, { at: null, readMs })
    })
  })

  return async (projectId, monitors) => {
    const toIds = (some: typeof monitors) => some.map(({ id }) => id)
    const heartbeats = toIds(monitors.filter(({ type }) => type === 'heartbeat'))
    const children = toIds(monitors.filter(({ dataSource }) => dataSource))
    const [pings, fetches] = await Promise.all([
      heartbeats.length > 0 ? listLastPings(db, projectId, heartbeats) : [],
      children.length > 0 ? listLastFetches(db, projectId, children) : [],
    ])
    const times = new Map([...pings, ...fetches])
    const checked = toIds(monitors.filter(({ id, type }) => type !== 'heartbeat' && !times.has(id)))
    const oldestMs = monotonicMs() - CACHE_TTL_MS
    const unknown = checked.filter(id => (cache.get(id)?.readMs ?? Number.NEGATIVE_INFINITY) < oldestMs)
    for (const id of unknown) wanted.add(id)
    if (unknown.length > 0) await withTimeout(readWanted(), waitMs)
    for (const id of checked) {
      const at = cache.get(id)?.at
      if (at) times.set(id, at)
    }
    return times
  }
}
