import { lastPingsOf } from '../heartbeats/store.ts'
import type { Clickhouse } from '../platform/clickhouse.ts'
import { nowMs, sleep } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { lastCheckedAt } from './store.ts'

/** How old an answer may be (house.md, the flow). */
const KEPT_MS = 5_000
const MOST_KEPT = 50_000
/** The history may be slow or away; a list of monitors does not wait for it. */
const PATIENCE_MS = 500

export type ReadLastChecked = (projectId: string, monitorIds: string[]) => Promise<Map<string, Date>>

/**
 * When monitors were last checked: heartbeats when they were last pinged, from PostgreSQL, the others from a cache over
 * ClickHouse. Empty for those it does not know, and for those that it asks ClickHouse about while that is away.
 */
export function createLastChecked({ clickhouse, db }: { clickhouse: Clickhouse; db: Db }): ReadLastChecked {
  const kept = new Map<string, { at: Date | null; readMs: number }>()

  const read = async (ids: string[], readMs: number) => {
    const times = await lastCheckedAt(clickhouse, ids).catch(() => new Map<string, Date>())
    if (kept.size > MOST_KEPT) kept.clear()
    for (const id of ids) kept.set(id, { at: times.get(id) ?? null, readMs })
  }

  return async (projectId, monitorIds) => {
    const pinged = await lastPingsOf(db, projectId, monitorIds)
    const checked = monitorIds.filter(id => !pinged.has(id))
    const oldestMs = nowMs() - KEPT_MS
    const unknown = checked.filter(id => (kept.get(id)?.readMs ?? 0) < oldestMs)
    if (unknown.length > 0) await Promise.race([read(unknown, nowMs()), sleep(PATIENCE_MS)])
    return new Map([...pinged, ...checked.flatMap(id => (kept.get(id)?.at ? [[id, kept.get(id)!.at!] as const] : []))])
  }
}
