import { createLruCache } from '../../../../shared/lru-cache.ts'
import { type Clickhouse, readAs } from '../../../foundation/platform/clickhouse.ts'
import { monotonicMs, withTimeout } from '../../../foundation/platform/time/clock.ts'
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

type MedianReader = {
  /** While ClickHouse is slow or unreachable, the last known response times are returned, or null. */
  read(request: MedianRequest): Promise<Medians | null>
  /** True when response times of the page arrived after its last read. */
  hasLateMedians(pageId: string): boolean
}

/** Reads the response times of pages, each within `timeoutMs`. */
export function createMedianReader(clickhouse: Clickhouse, timeoutMs: number): MedianReader {
  let failedMs = Number.NEGATIVE_INFINITY
  const late = createLruCache<Medians>(MAX_LATE)
  const running = new Map<string, { ids: ReadonlySet<string>; loading: Promise<Medians | null> }>()

  /** Returns null after a failure. */
  async function load({ pageId, ids, from }: MedianRequest): Promise<Medians | null> {
    // a page that is slow must not use the reads of its project, nor the other way round
    const share = { key: `page ${pageId}`, timeoutMs }
    const byMonitor = await readAs(clickhouse, share, reads => loadDailyMedians(reads, ids, from)).catch(() => null)
    if (byMonitor !== null) return { byMonitor, ids: new Set(ids), loadedMs: monotonicMs() }
    failedMs = monotonicMs()
    return null
  }

  /** A query of the page that is running is used if it has all monitors. */
  function loadOnce(request: MedianRequest): Promise<Medians | null> {
    const { pageId, ids } = request
    const known = running.get(pageId)
    if (known && hasAll(known, ids)) return known.loading
    const loading = load(request)
    const started = { ids: new Set(ids), loading }
    running.set(pageId, started)
    void loading.then(() => running.get(pageId) === started && running.delete(pageId))
    return loading
  }

  async function read(request: MedianRequest): Promise<Medians | null> {
    const { pageId, ids, waitMs } = request
    const known = pickBest([request.known, late.get(pageId) ?? null], ids)
    late.delete(pageId)
    const isUsable = known !== null && monotonicMs() - known.loadedMs < MAX_AGE_MS && hasAll(known, ids)
    if (isUsable || monotonicMs() - failedMs < CLICKHOUSE_PAUSE_MS) return known
    const loading = loadOnce(request)
    const loaded = await withTimeout(loading, waitMs)
    if (loaded === null) void loading.then(medians => medians && late.set(pageId, medians))
    return loaded ?? known
  }

  return { read, hasLateMedians: pageId => late.get(pageId) !== undefined }
}

const hasAll = (known: { ids: ReadonlySet<string> }, ids: readonly string[]) => ids.every(id => known.ids.has(id))

/** Those with all monitors, otherwise the newest. */
function pickBest(candidates: readonly (Medians | null)[], ids: readonly string[]): Medians | null {
  const newestFirst = candidates.filter(one => one !== null).sort((a, b) => b.loadedMs - a.loadedMs)
  return newestFirst.find(one => hasAll(one, ids)) ?? newestFirst[0] ?? null
}
