import { lastPingsOf } from '../heartbeats/store.ts'
import type { LastCheckedAt, ReadWatching } from '../monitors/present.ts'
import type { Clickhouse } from '../platform/clickhouse.ts'
import { inTime, nowMs } from '../platform/clock.ts'
import { nextRun } from '../platform/next-run.ts'
import type { Db } from '../platform/postgres.ts'
import { lastCheckedAt } from './store.ts'

/** How old an answer may be (house.md, the flow). */
const KEPT_MS = 5_000
const MOST_KEPT = 50_000
/** The history may be slow or away; a list of monitors does not wait for it. */
const PATIENCE_MS = 500
/** They travel in the address of the request. */
const IDS_A_QUERY = 200

/**
 * When monitors were last checked: heartbeats when they were last pinged, from PostgreSQL, the others from a cache over
 * ClickHouse, which is asked one query at a time for all who wait. Empty for those it does not know, and for those that
 * it asks ClickHouse about while that takes longer than `patienceMs`.
 */
export function createLastChecked(
  { clickhouse, db }: { clickhouse: Clickhouse; db: Db },
  patienceMs = PATIENCE_MS,
): (...asked: Parameters<ReadWatching>) => Promise<LastCheckedAt> {
  const kept = new Map<string, { at: Date | null; readMs: number }>()
  const wanted = new Set<string>()

  const readWanted = nextRun(async () => {
    const readMs = nowMs()
    const ids = [...wanted]
    wanted.clear()
    if (kept.size > MOST_KEPT) kept.clear()
    for (let from = 0; from < ids.length; from += IDS_A_QUERY) {
      const some = ids.slice(from, from + IDS_A_QUERY)
      const times = await lastCheckedAt(clickhouse, some).catch(() => new Map<string, Date>())
      for (const id of some) kept.set(id, { at: times.get(id) ?? null, readMs })
    }
  })

  return async (projectId, monitors) => {
    const idsOf = (isHeartbeat: boolean) =>
      monitors.filter(({ type }) => (type === 'heartbeat') === isHeartbeat).map(({ id }) => id)
    const [heartbeats, checked] = [idsOf(true), idsOf(false)]
    const times = new Map(heartbeats.length > 0 ? await lastPingsOf(db, projectId, heartbeats) : [])
    const oldestMs = nowMs() - KEPT_MS
    const unknown = checked.filter(id => (kept.get(id)?.readMs ?? 0) < oldestMs)
    for (const id of unknown) wanted.add(id)
    if (unknown.length > 0) await inTime(readWanted(), patienceMs)
    for (const id of checked) {
      const at = kept.get(id)?.at
      if (at) times.set(id, at)
    }
    return times
  }
}
