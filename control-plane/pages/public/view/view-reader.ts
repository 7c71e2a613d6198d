import { createLruCache } from '../../../../shared/lru-cache.ts'
import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import {
  now as clockNow,
  createYieldPoint,
  monotonicMs as machineMonotonicMs,
} from '../../../foundation/platform/time/clock.ts'
import { listStatusTimes } from '../../../insight/analytics/uptime/status-time-store.ts'
import { listPageComponents } from '../../core/component-store.ts'
import { sanitizeProjectCss } from '../../core/custom-css/css-actions.ts'
import { listPageGroups } from '../../core/group-store.ts'
import { loadPageImages } from '../../core/images/image-store.ts'
import { buildPagePath } from '../../core/public-url.ts'
import type { StoredPage } from '../../core/records.ts'
import type { LoadedPage, PageView } from '../../core/types.ts'
import type { Site } from '../site.ts'
import { DAY_MS, listBarDays } from './days.ts'
import { createMedianReader } from './median-reader.ts'
import type { PageData } from './page-data.ts'
import {
  findPageBySite,
  type Horizon,
  listNoticedMaintenance,
  listPageIncidents,
  listPageMaintenance,
  type PublicPage,
} from './page-data-store.ts'
import { buildPageView, RECENT_MS } from './page-view.ts'

/** Bars and percentages change with time: an unchanged page is read again after this. */
const MAX_AGE_MS = 60_000
/** ClickHouse may be slow or unreachable; the rest of a page does not wait for it. */
const HISTORY_TIMEOUT_MS = 2_000
/** How long a page that was shown before waits for ClickHouse. After a second, visitors get the previous page instead. */
const SHOWN_PAGE_WAIT_MS = 300

type ViewTools = {
  db: Db
  clickhouse: Clickhouse
  publicUrl: string
  /** the clock of the views */
  now?: () => Date
  /** the clock for the age of views */
  monotonicMs?: () => number
  /** how long a page waits for ClickHouse */
  historyTimeoutMs?: number
}

type History = {
  /** the response times of the last read */
  known: LoadedPage['medians']
  /** how long the page waits for new ones */
  waitMs?: number
}

/** Reads everything that a view shows. While ClickHouse is unreachable, the last known response times are used. */
function createDataReader({ db, clickhouse, historyTimeoutMs = HISTORY_TIMEOUT_MS }: ViewTools) {
  const medianReader = createMedianReader(clickhouse, historyTimeoutMs)
  async function readData(page: StoredPage, horizon: Horizon, { known, waitMs = historyTimeoutMs }: History) {
    const [groups, components] = await Promise.all([listPageGroups(db, page.id), listPageComponents(db, page.id)])
    const ids = [...new Set(components.flatMap(({ monitor }) => (monitor ? [monitor.id] : [])))]
    const from = new Date(listBarDays(horizon.now)[0]!.startMs)
    const [times, incidents, maintenance, noticedMaintenance, medians] = await Promise.all([
      listStatusTimes(db, ids, { from, now: horizon.now, stepMs: DAY_MS }),
      listPageIncidents(db, page.projectId, ids, from, horizon.recent),
      listPageMaintenance(db, ids, horizon),
      listNoticedMaintenance(db, page.projectId, ids, horizon),
      page.showResponseTimes ? medianReader.read({ pageId: page.id, ids, from, known, waitMs }) : null,
    ])
    const shown = { page, groups, components, times, incidents, maintenance, noticedMaintenance }
    const data: PageData = { ...shown, medians: medians?.byMonitor ?? null }
    return { data, medians }
  }
  return { readData, hasLateMedians: medianReader.hasLateMedians }
}

const toHorizon = (at: Date): Horizon => ({
  now: at,
  recent: new Date(at.getTime() - RECENT_MS),
  soon: new Date(at.getTime() + RECENT_MS),
})

/**
 * Reads public pages. One statement finds out whether a page is unchanged; otherwise everything is read
 * (docs/design/status-pages.md#cache).
 */
export function createViewReader(tools: ViewTools) {
  const { db, publicUrl, now = clockNow, monotonicMs = machineMonotonicMs } = tools
  const { readData, hasLateMedians } = createDataReader(tools)

  async function load(site: Site, found: PublicPage, horizon: Horizon, known: LoadedPage | null) {
    const { page, fingerprint, unreadSince } = found
    const loadedMs = monotonicMs()
    const isSameImages =
      known !== null && known.images.logo?.id === page.logo?.id && known.images.favicon?.id === page.favicon?.id
    const [{ data, medians }, images] = await Promise.all([
      readData(page, horizon, known ? { known: known.medians, waitMs: SHOWN_PAGE_WAIT_MS } : { known: null }),
      isSameImages ? known.images : loadPageImages(db, page.id),
    ])
    const pause = createYieldPoint(0)
    const address = { origin: publicUrl, path: 'domain' in site ? '' : buildPagePath(page) }
    const current = buildPageView(data, address, await loadCustomCss(page, known), horizon.now)
    const view = unreadSince ? { ...current, staleSince: unreadSince.toISOString() } : current
    // a view of 500 components takes 15 ms, and its rendering 30 ms
    await pause()
    const sizeBytes = estimateBytes(view, images)
    return { view, fingerprint, loadedMs, medians, images, sizeBytes }
  }

  return async function read(site: Site, known: LoadedPage | null): Promise<LoadedPage | null> {
    const horizon = toHorizon(now())
    const found = await findPageBySite(db, site, horizon)
    if (found === null) return null
    const isSame = known?.fingerprint === found.fingerprint && monotonicMs() - known.loadedMs < MAX_AGE_MS
    return isSame && !(found.page.showResponseTimes && hasLateMedians(found.page.id))
      ? known
      : load(site, found, horizon, known)
  }
}

/** Pages whose response times are kept between two previews. */
const MAX_PREVIEWED = 50

/**
 * Reads the view of a page with settings that are not stored, also while it is not published
 * (docs/design/status-pages.md#preview). `customCss` is sanitized.
 */
export function createPreviewReader(tools: ViewTools) {
  const { publicUrl, now = clockNow } = tools
  const { readData } = createDataReader(tools)
  const medians = createLruCache<NonNullable<LoadedPage['medians']>>(MAX_PREVIEWED)
  return async function readPreview(page: StoredPage, customCss: string | null): Promise<PageView> {
    const horizon = toHorizon(now())
    const read = await readData(page, horizon, { known: medians.get(page.id) ?? null })
    if (read.medians) medians.set(page.id, read.medians)
    return buildPageView(read.data, { origin: publicUrl, path: buildPagePath(page) }, customCss, horizon.now)
  }
}

/**
 * Stored CSS was accepted when it was saved; a newer version may reject it, and then it is left out. When sanitizing
 * fails, the page uses the CSS that it had, or none.
 */
async function loadCustomCss({ projectId, customCss }: StoredPage, known: LoadedPage | null): Promise<string | null> {
  if (customCss === null) return null
  const made = await sanitizeProjectCss(projectId, customCss).catch(() => ({ css: known?.view.customCss ?? null }))
  return 'css' in made ? made.css : null
}

const BYTES_PER_DAY = 250

function estimateBytes(view: PageView, images: LoadedPage['images']): number {
  const components = view.sections.flatMap(section =>
    section.kind === 'group' ? section.group.components : section.component,
  )
  const days = components.reduce((sum, { days }) => sum + (days?.length ?? 0), 0)
  const { days: _, ...texts } = { ...view, days: null, sections: null }
  const bytes = (images.logo?.bytes.length ?? 0) + (images.favicon?.bytes.length ?? 0)
  return days * BYTES_PER_DAY + components.length * 1_000 + JSON.stringify(texts).length * 2 + bytes
}
