import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now as clockNow, createYieldPoint, nowMs, withTimeout } from '../../../foundation/platform/time/clock.ts'
import { listStatusTimes } from '../../../insight/analytics/uptime/status-time-store.ts'
import { listPageComponents } from '../../core/component-store.ts'
import { sanitizeProjectCss } from '../../core/custom-css/css-actions.ts'
import { listPageGroups } from '../../core/group-store.ts'
import { loadPageImages } from '../../core/images/image-store.ts'
import type { StoredPage } from '../../core/records.ts'
import type { LoadedPage, PageView } from '../../core/types.ts'
import type { Site } from '../site.ts'
import { DAY_MS, listBarDays } from './days.ts'
import type { PageData } from './page-data.ts'
import {
  findPageBySite,
  type Horizon,
  listPageIncidents,
  listPageMaintenance,
  loadDailyMedians,
} from './page-data-store.ts'
import { buildPageView, RECENT_MS } from './page-view.ts'

/** Bars and percentages change with time: an unchanged page is read again after this. */
const MAX_AGE_MS = 60_000
/** ClickHouse may be slow or unreachable; the rest of a page does not wait for it. */
const HISTORY_TIMEOUT_MS = 2_000
/** How long ClickHouse is not queried after a failure. */
const CLICKHOUSE_PAUSE_MS = 5_000

type ViewTools = {
  db: Db
  clickhouse: Clickhouse
  publicUrl: string
  /** the clock of the views */
  now?: () => Date
  /** how long a page waits for ClickHouse */
  historyTimeoutMs?: number
}

/**
 * Reads public pages. One statement finds out whether a page is unchanged; otherwise everything is read
 * (docs/design/status-pages.md#cache). While ClickHouse is unreachable, the last known response times are used.
 */
export function createViewReader(tools: ViewTools) {
  const { now = clockNow, historyTimeoutMs = HISTORY_TIMEOUT_MS } = tools
  let clickhouseFailedMs = 0

  async function readMedians(ids: string[], from: Date, known: LoadedPage['medians']): Promise<LoadedPage['medians']> {
    const isKnown = known !== null && nowMs() - known.loadedMs < MAX_AGE_MS && ids.every(id => known.ids.has(id))
    if (isKnown || nowMs() - clickhouseFailedMs < CLICKHOUSE_PAUSE_MS) return known
    const byMonitor = await withTimeout(loadDailyMedians(tools.clickhouse, ids, from), historyTimeoutMs).catch(
      () => null,
    )
    if (byMonitor !== null) return { byMonitor, ids: new Set(ids), loadedMs: nowMs() }
    clickhouseFailedMs = nowMs()
    return known
  }

  async function load(page: StoredPage, fingerprint: string, horizon: Horizon, known: LoadedPage | null) {
    const { db, publicUrl } = tools
    const isSameImages =
      known !== null && known.images.logo?.id === page.logo?.id && known.images.favicon?.id === page.favicon?.id
    const [groups, components, images] = await Promise.all([
      listPageGroups(db, page.id),
      listPageComponents(db, page.id),
      isSameImages ? known.images : loadPageImages(db, page.id),
    ])
    const ids = [...new Set(components.flatMap(({ monitor }) => (monitor ? [monitor.id] : [])))]
    const from = new Date(listBarDays(horizon.now)[0]!.startMs)
    const [times, incidents, maintenance, medians] = await Promise.all([
      listStatusTimes(db, ids, { from, now: horizon.now, stepMs: DAY_MS }),
      listPageIncidents(db, page.projectId, ids, from, horizon.recent),
      listPageMaintenance(db, ids, horizon),
      page.showResponseTimes ? readMedians(ids, from, known?.medians ?? null) : null,
    ])
    const data: PageData = {
      page,
      groups,
      components,
      times,
      incidents,
      maintenance,
      medians: medians?.byMonitor ?? null,
    }
    const pause = createYieldPoint(0)
    const view = buildPageView(data, publicUrl, await loadCustomCss(page, known), horizon.now)
    // a view of 500 components takes 15 ms, and its rendering 30 ms
    await pause()
    return {
      view,
      fingerprint,
      loadedMs: horizon.now.getTime(),
      medians,
      images,
      sizeBytes: estimateBytes(view, images),
    }
  }

  return async function read(site: Site, known: LoadedPage | null): Promise<LoadedPage | null> {
    const at = now()
    const horizon = { now: at, recent: new Date(at.getTime() - RECENT_MS), soon: new Date(at.getTime() + RECENT_MS) }
    const found = await findPageBySite(tools.db, site, horizon)
    if (found === null) return null
    const isSame = known?.fingerprint === found.fingerprint && at.getTime() - known.loadedMs < MAX_AGE_MS
    return isSame ? known : load(found.page, found.fingerprint, horizon, known)
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
