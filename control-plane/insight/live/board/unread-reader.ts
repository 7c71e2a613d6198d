import { coalesce } from '../../../foundation/platform/concurrency/coalesce.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { findUnreadSince, hasUnreadPartition } from '../../../verdict/reader/partitions/unread-store.ts'

const CACHE_TTL_MS = 2_000

/**
 * Reads since when the results of a project have not been read; null when they are. While all results are read, it asks the database once
 * in 2 s for all projects.
 */
export function createUnreadReader(db: Db): (projectId: string) => Promise<Date | null> {
  let isUnread = false
  let readMs = Number.NEGATIVE_INFINITY
  const update = coalesce(async () => {
    const startedMs = monotonicMs()
    isUnread = await hasUnreadPartition(db)
    readMs = startedMs
  })
  return async projectId => {
    if (monotonicMs() - readMs > CACHE_TTL_MS) await update()
    return isUnread ? findUnreadSince(db, projectId) : null
  }
}
