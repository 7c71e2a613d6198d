import { createLruCache } from '../../foundation/platform/cache/lru-cache.ts'
import { nowMs as clockMs, withTimeout } from '../../foundation/platform/time/clock.ts'
import type { LoadedPage, PageView } from '../core/types.ts'
import { type PageDocument, type PreparedDocument, prepareDocument } from './document.ts'
import { getSiteKey, type Site } from './site.ts'

/** A page as visitors get it now, with whatever was made of it so far. */
export type CachedPage = {
  page: LoadedPage
  view: PageView
  /** One of the few documents that every page has, made once a key; null where `make` answers null. */
  document(key: string, make: (view: PageView) => PageDocument | null): PreparedDocument | null
  /** One of any number of small ones: those that were asked for last are kept, and none without a key. */
  variant(key: string | null, make: (view: PageView) => PageDocument): PreparedDocument
  /** of the page and of all documents that are made by now */
  sizeBytes(): number
}

export type PageFinder = ((site: Site) => Promise<CachedPage | null>) & {
  /** The page where nobody has to look again; null does not say that there is none. */
  fresh(site: Site): CachedPage | null
}

export type PageCacheTools = {
  /** Answers `known` itself when it is still so, null when there is no such public page. */
  read(site: Site, known: LoadedPage | null): Promise<LoadedPage | null>
  /** how one answer came about */
  count(outcome: 'fresh' | 'unchanged' | 'loaded' | 'stale'): void
  maxBytes?: number
  /** the clock by which a page grows old */
  nowMs?: () => number
}

/** After this somebody looks again, while visitors get what is there. */
const FRESH_MS = 500
/** After this visitors wait for that look, so that a change is seen within 2 s also by who keeps an answer for 1 s. */
const USABLE_MS = 1_000
/** A visitor waits no longer for an engine when there is something to show. */
const READ_TIMEOUT_MS = 1_000
const MAX_PAGES = 2_000
const MAX_BYTES = 64 * 1024 * 1024
/** Visitors can ask for any number of them. */
const MAX_VARIANTS = 64

type CacheEntry = {
  shown: CachedPage
  /** the same with `staleSince`, once it was needed */
  stale: CachedPage | null
  checkedMs: number
  failedMs: number
}

type PendingRead = { done: Promise<unknown>; startedMs: number }

/**
 * Public pages in memory: fresh for half a second without a question to any engine, then looked at again by one reader
 * for all, for whom nobody waits as long as the page is younger than a second. While PostgreSQL is away, or slower than a second, the last page is shown, however old, and says so.
 * Rejects only when there is nothing to show.
 */
export function createPageCache({ read, count, maxBytes = MAX_BYTES, nowMs = clockMs }: PageCacheTools): PageFinder {
  // in the order of their last reading
  const entries = new Map<string, CacheEntry>()
  const readings = new Map<string, PendingRead>()

  function readOnce(key: string, site: Site, entry: CacheEntry | undefined): PendingRead {
    const running = readings.get(key)
    if (running) return running
    const startedMs = nowMs()
    const done = read(site, entry?.shown.page ?? null)
      .then(page => keep(key, page, startedMs))
      .catch(error => {
        if (entry) entry.failedMs = nowMs()
        throw error
      })
      .finally(() => readings.delete(key))
    // whoever is shown something stale meanwhile does not wait for it
    done.catch(() => {})
    readings.set(key, { done, startedMs })
    return { done, startedMs }
  }

  function keep(key: string, page: LoadedPage | null, checkedMs: number): void {
    const before = entries.get(key)
    entries.delete(key)
    if (page === null) return
    const isSame = before?.shown.page === page
    count(isSame ? 'unchanged' : 'loaded')
    const shown = isSame ? before.shown : createCachedPage(page, page.view)
    entries.set(key, { shown, stale: null, checkedMs, failedMs: 0 })
    if (!isSame) evictOldest(entries, maxBytes)
  }

  function staleOf(entry: CacheEntry): CachedPage {
    count('stale')
    const { page, view } = entry.shown
    entry.stale ??= createCachedPage(page, { ...view, staleSince: new Date(entry.checkedMs).toISOString() })
    return entry.stale
  }

  function fresh(site: Site): CachedPage | null {
    const entry = entries.get(getSiteKey(site))
    if (entry === undefined || nowMs() - entry.checkedMs >= FRESH_MS) return null
    count('fresh')
    return entry.shown
  }

  async function find(site: Site): Promise<CachedPage | null> {
    const key = getSiteKey(site)
    const entry = entries.get(key)
    const ageMs = entry ? nowMs() - entry.checkedMs : Number.POSITIVE_INFINITY
    if (entry && ageMs >= FRESH_MS && nowMs() - entry.failedMs < USABLE_MS) return staleOf(entry)
    if (entry && ageMs < USABLE_MS) {
      count('fresh')
      if (ageMs >= FRESH_MS) readOnce(key, site, entry)
      return entry.shown
    }
    const { done, startedMs } = readOnce(key, site, entry)
    if (!entry) await done
    else if (!(await succeeds(done, startedMs + READ_TIMEOUT_MS - nowMs()))) return staleOf(entry)
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
      const made = source && prepareDocument(source)
      documents.set(key, made)
      return made
    },
    variant(key, make) {
      const before = key === null ? undefined : variants.get(key)
      if (before !== undefined) return before
      const made = prepareDocument(make(view))
      if (key !== null) variants.set(key, made)
      return made
    },
    sizeBytes: () =>
      [...documents.values(), ...variants.values()].reduce(
        (sum, made) => sum + (made?.sizeBytes() ?? 0),
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

/** Forgets those that were read longest ago, but never the last one. */
function evictOldest(entries: Map<string, CacheEntry>, maxBytes: number): void {
  const sizeOf = ({ shown, stale }: CacheEntry) => shown.sizeBytes() + (stale?.sizeBytes() ?? 0)
  let bytes = [...entries.values()].reduce((sum, entry) => sum + sizeOf(entry), 0)
  for (const [key, entry] of entries) {
    if (entries.size === 1 || (bytes <= maxBytes && entries.size <= MAX_PAGES)) return
    bytes -= sizeOf(entry)
    entries.delete(key)
  }
}
