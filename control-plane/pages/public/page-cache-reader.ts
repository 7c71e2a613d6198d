import { createLruCache } from '../../../shared/lru-cache.ts'
import {
  nowMs as clockMs,
  monotonicMs as machineMonotonicMs,
  withTimeout,
} from '../../foundation/platform/time/clock.ts'
import {
  type PageDocument,
  type PreparedDocument,
  prepareDocument,
} from '../../foundation/web/html/prepared-document.ts'
import type { LoadedPage, PageView } from '../core/types.ts'
import { getSiteKey, type Site } from './site.ts'

/** A cached page with the documents rendered from it so far. */
export type CachedPage = {
  page: LoadedPage
  view: PageView
  /** One of the few documents of every page, rendered once per key; null when `make` returns null. */
  document(key: string, make: (view: PageView) => PageDocument | null): PreparedDocument | null
  /** One of an unlimited number of small documents: the last requested ones are kept; without a key it is not kept. */
  variant(key: string | null, make: (view: PageView) => PageDocument): PreparedDocument
  /** of the page and of all documents rendered so far */
  sizeBytes(): number
}

export type PageFinder = ((site: Site) => Promise<CachedPage | null>) & {
  /** The page if it is fresh. Null does not mean that the page does not exist. */
  fresh(site: Site): CachedPage | null
}

type PageCacheTools = {
  /** Returns `known` itself while it is unchanged, null when the page is not public. */
  read(site: Site, known: LoadedPage | null): Promise<LoadedPage | null>
  /** called for each response with its source */
  count(outcome: 'fresh' | 'unchanged' | 'loaded' | 'stale'): void
  maxBytes?: number
  /** the clock for the age of pages: one that is set back would keep them fresh until it catches up */
  monotonicMs?: () => number
  /** the clock of `staleSince` */
  nowMs?: () => number
}

/** A younger page is served without a query. Afterwards one reader checks it, while visitors get the cached page. */
const FRESH_MS = 500
/**
 * Afterwards visitors wait for that reader, so a change is visible within 2 s, including clients that cache for 1 s.
 */
const USABLE_MS = 1_000
/** The maximum wait for PostgreSQL when a cached page exists. */
const READ_TIMEOUT_MS = 1_000
const MAX_PAGES = 2_000
const MAX_BYTES = 64 * 1024 * 1024
/** Visitors can request any number of variants. */
const MAX_VARIANTS = 64

type CacheEntry = {
  shown: CachedPage
  /** the same with `staleSince`, created when first needed */
  stale: CachedPage | null
  checked: ReadTime
  /** of the monotonic clock; -Infinity without a failure */
  failedMs: number
}

/** When a read started: `ms` of the monotonic clock, and the time that visitors see. */
type ReadTime = { ms: number; wallMs: number }

type PendingRead = { done: Promise<unknown>; startedMs: number }

/**
 * Caches public pages in memory (docs/design/status-pages.md#cache). A page is fresh for half a second. Then one reader
 * checks it for all visitors; they wait for it only when the page is older than a second. While PostgreSQL is
 * unreachable or slower than a second, the last page is served with `staleSince`, however old it is. Rejects only
 * without a cached page.
 */
export function createPageCache(tools: PageCacheTools): PageFinder {
  const { read, count, maxBytes = MAX_BYTES, monotonicMs = machineMonotonicMs, nowMs = clockMs } = tools
  // in the order of their last change
  const entries = new Map<string, CacheEntry>()
  const pendingReads = new Map<string, PendingRead>()

  function readOnce(key: string, site: Site, entry: CacheEntry | undefined): PendingRead {
    const running = pendingReads.get(key)
    if (running) return running
    const started = { ms: monotonicMs(), wallMs: nowMs() }
    const done = read(site, entry?.shown.page ?? null)
      .then(page => store(key, page, started))
      .catch(error => {
        if (entry) entry.failedMs = monotonicMs()
        throw error
      })
      .finally(() => pendingReads.delete(key))
    // a visitor who gets a stale page does not wait for it
    done.catch(() => {})
    const pending = { done, startedMs: started.ms }
    pendingReads.set(key, pending)
    return pending
  }

  function store(key: string, page: LoadedPage | null, checked: ReadTime): void {
    const before = entries.get(key)
    entries.delete(key)
    if (page === null) return
    const isSame = before?.shown.page === page
    count(isSame ? 'unchanged' : 'loaded')
    const shown = isSame ? before.shown : createCachedPage(page, page.view)
    entries.set(key, { shown, stale: null, checked, failedMs: Number.NEGATIVE_INFINITY })
    if (!isSame) evictOldest(entries, maxBytes)
  }

  function toStale(entry: CacheEntry): CachedPage {
    count('stale')
    const { page, view } = entry.shown
    const staleSince = view.staleSince ?? new Date(entry.checked.wallMs).toISOString()
    entry.stale ??= createCachedPage(page, { ...view, staleSince })
    return entry.stale
  }

  function fresh(site: Site): CachedPage | null {
    const entry = entries.get(getSiteKey(site))
    if (entry === undefined || monotonicMs() - entry.checked.ms >= FRESH_MS) return null
    count('fresh')
    return entry.shown
  }

  async function find(site: Site): Promise<CachedPage | null> {
    const key = getSiteKey(site)
    const entry = entries.get(key)
    const ageMs = entry ? monotonicMs() - entry.checked.ms : Number.POSITIVE_INFINITY
    if (entry && ageMs >= FRESH_MS && monotonicMs() - entry.failedMs < USABLE_MS) return toStale(entry)
    if (entry && ageMs < USABLE_MS) {
      count('fresh')
      if (ageMs >= FRESH_MS) readOnce(key, site, entry)
      return entry.shown
    }
    const { done, startedMs } = readOnce(key, site, entry)
    if (!entry) await done
    else if (!(await succeeds(done, startedMs + READ_TIMEOUT_MS - monotonicMs()))) return toStale(entry)
    return entries.get(key)?.shown ?? null
  }

  return Object.assign(find, { fresh })
}

function createCachedPage(page: LoadedPage, view: PageView): CachedPage {
  const documents = new Map<string, PreparedDocument | null>()
  const variants = createLruCache<PreparedDocument>(MAX_VARIANTS)
  return {
    page,
    view,
    document(key, make) {
      const before = documents.get(key)
      if (before !== undefined) return before
      const source = make(view)
      const document = source && prepareDocument(source)
      documents.set(key, document)
      return document
    },
    variant(key, make) {
      const before = key === null ? undefined : variants.get(key)
      if (before !== undefined) return before
      const document = prepareDocument(make(view))
      if (key !== null) variants.set(key, document)
      return document
    },
    sizeBytes: () =>
      [...documents.values(), ...variants.values()].reduce(
        (sum, document) => sum + (document?.sizeBytes() ?? 0),
        page.sizeBytes,
      ),
  }
}

/** True when the work succeeds within `ms`. */
async function succeeds(work: Promise<unknown>, ms: number): Promise<boolean> {
  const outcome = work.then(
    () => true,
    () => false,
  )
  return ms > 0 && (await withTimeout(outcome, ms)) === true
}

/** Removes the entries that were loaded longest ago, but never the last one. */
function evictOldest(entries: Map<string, CacheEntry>, maxBytes: number): void {
  const getSize = ({ shown, stale }: CacheEntry) => shown.sizeBytes() + (stale?.sizeBytes() ?? 0)
  let bytes = [...entries.values()].reduce((sum, entry) => sum + getSize(entry), 0)
  for (const [key, entry] of entries) {
    if (entries.size === 1 || (bytes <= maxBytes && entries.size <= MAX_PAGES)) return
    bytes -= getSize(entry)
    entries.delete(key)
  }
}
