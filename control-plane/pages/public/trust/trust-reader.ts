import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { findLastMiss, loadOutageStatistics } from '../../../insight/canaries/measurement/statistics-store.ts'
import { loadCanaries } from '../../../insight/canaries/store.ts'
import { buildTrustReport, TRUST_DAYS, type TrustReport } from './trust.ts'

/** How long a report is served without another query. */
const CACHE_TTL_MS = 60_000
/** How long the last report is served after a failure. */
const RETRY_DELAY_MS = 5_000
const DAY_MS = 86_400_000

export async function loadTrustReport(db: Db, now: Date): Promise<TrustReport> {
  const since = new Date(now.getTime() - TRUST_DAYS * DAY_MS)
  const [canaries, figures, lastMiss] = await Promise.all([
    loadCanaries(db),
    loadOutageStatistics(db, since),
    findLastMiss(db, since),
  ])
  return buildTrustReport({ canaries, figures, lastMiss }, now)
}

/**
 * Caches the result of `read` for a minute and calls it once at a time for all callers. While it fails, the last result
 * is returned, however old; it contains its time. Rejects only before the first result.
 */
export function createCachedReader<T>(read: () => Promise<T>, monotonicMs: () => number): () => Promise<T> {
  let kept: { value: T; untilMs: number } | null = null
  let reading: Promise<T> | null = null

  const readOnce = () =>
    read()
      .then(value => {
        kept = { value, untilMs: monotonicMs() + CACHE_TTL_MS }
        return value
      })
      .catch(error => {
        if (kept === null) throw error
        kept = { ...kept, untilMs: monotonicMs() + RETRY_DELAY_MS }
        return kept.value
      })
      .finally(() => {
        reading = null
      })

  return async () => {
    if (kept !== null && monotonicMs() < kept.untilMs) return kept.value
    reading ??= readOnce()
    return await reading
  }
}
