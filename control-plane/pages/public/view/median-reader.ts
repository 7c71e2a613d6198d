import { createLruCache } from '../../../../shared/lru-cache.ts'
import { type Clickhouse, readAs } from '../../../foundation/platform/clickhouse.ts'
import { nowMs, withTimeout } from '../../../foundation/platform/time/clock.ts'
import type { LoadedPage } from '../../core/types.ts'
import { loadDailyMedians } from './page-data-store.ts'

type Medians = NonNullable<LoadedPage['medians']>

type MedianRequest = {
  pageId: string
  /** of the monitors that the page shows */
  ids: string[]
  from: Date
  /** those of the last read */
  known: Medians | null
  /** The page waits this long, in ms. ClickHouse may take longer: the next read gets what arrives late. */
  waitMs: number
}

/** Response times are read again after this. */
const MAX_AGE_MS = 60_000
/** How long ClickHouse is not queried after a failure. */
const CLICKHOUSE_PAUSE_MS = 5_000
/** Pages whose response times arrived late and were not used yet. */
const MAX_LATE = 200

/**
 * Reads the response times of pages, each within `timeoutMs`. While ClickHouse is slow or unreachable, the last known
 * ones are returned, or null.
 */
export function createMedianReader(clickhouse: Clickhouse, timeoutMs: number) {
  let failedMs = 0
  const late = createLruCache<Medians>(MAX_LATE)

  /** Returns null after a failure. */
  async function load({ pageId, ids, from }: MedianRequest): Promise<Medians | null> {
    // a page that is slow must not use the reads of its project, nor the other way round
    const share = { key: `page ${pageId}`, timeoutMs }
    const byMonitor = await readAs(clickhouse, share, reads => loadDailyMedians(reads, ids, from)).catch(() => null)
    if (byMonitor !== null) return { byMonitor, ids: new Set(ids), loadedMs: nowMs() }
    failedMs = nowMs()
    return null
  }

  return async function readMedians(request: MedianRequest): Promise<Medians | null> {
    const { pageId, ids, waitMs } = request
    const known = pickNewest(request.known, late.get(pageId) ?? null)
    const isUsable = known !== null && nowMs() - known.loadedMs < MAX_AGE_MS && ids.every(id => known.ids.has(id))
    if (isUsable || nowMs() - failedMs < CLICKHOUSE_PAUSE_MS) return known
    const loading = load(request)
    const loaded = await withTimeout(loading, waitMs)
    if (loaded === null) void loading.then(medians => medians && late.set(pageId, medians))
    return loaded ?? known
  }
}

const pickNewest = (one: Medians | null, other: Medians | null) =>
  (other?.loadedMs ?? 0) > (one?.loadedMs ?? 0) ? other : one
