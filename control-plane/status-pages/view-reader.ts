import type { Clickhouse } from '../platform/clickhouse.ts'
import { now as clockNow, createPauses, inTime, nowMs } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { componentsOfPage } from './component-store.ts'
import { readCss } from './css-reader.ts'
import { daysUntil } from './days.ts'
import type { PageFacts } from './facts.ts'
import {
  findPublished,
  type Horizon,
  incidentsOfPage,
  maintenanceOfPage,
  mediansByDay,
  timesInStatus,
} from './facts-store.ts'
import { groupsOfPage } from './group-store.ts'
import { imagesOfPage } from './image-store.ts'
import type { StoredPage } from './records.ts'
import type { Site } from './site.ts'
import type { LoadedPage, PageView } from './types.ts'
import { RECENT_MS, viewOf } from './view.ts'

/** Time itself moves bars and percentages: after this a page is read anew although nothing has changed. */
const OLDEST_MS = 60_000
/** The history may be slow or away; the rest of a page does not wait for it. */
const PATIENCE_MS = 2_000
/** How long ClickHouse is left alone after it did not answer. */
const PAUSE_MS = 5_000

export type ViewTools = {
  db: Db
  clickhouse: Clickhouse
  publicUrl: string
  /** the time at which pages are shown */
  now?: () => Date
  /** how long a page waits for the history */
  patienceMs?: number
}

/**
 * Reads public pages: one statement says whether a page is still as it is known, else everything is read anew. Response
 * times are those known before while ClickHouse is away.
 */
export function createViewReader(tools: ViewTools) {
  const { now = clockNow, patienceMs = PATIENCE_MS } = tools
  let clickhouseAwayMs = 0

  async function readMedians(ids: string[], from: Date, known: LoadedPage['medians']): Promise<LoadedPage['medians']> {
    const isKnown = known !== null && nowMs() - known.loadedMs < OLDEST_MS && ids.every(id => known.ids.has(id))
    if (isKnown || nowMs() - clickhouseAwayMs < PAUSE_MS) return known
    const byMonitor = await inTime(mediansByDay(tools.clickhouse, ids, from), patienceMs).catch(() => null)
    if (byMonitor !== null) return { byMonitor, ids: new Set(ids), loadedMs: nowMs() }
    clickhouseAwayMs = nowMs()
    return known
  }

  async function load(page: StoredPage, fingerprint: string, horizon: Horizon, known: LoadedPage | null) {
    const { db, publicUrl } = tools
    const isSameImages =
      known !== null && known.images.logo?.id === page.logo?.id && known.images.favicon?.id === page.favicon?.id
    const [groups, components, images] = await Promise.all([
      groupsOfPage(db, page.id),
      componentsOfPage(db, page.id),
      isSameImages ? known.images : imagesOfPage(db, page.id),
    ])
    const ids = [...new Set(components.flatMap(({ monitor }) => (monitor ? [monitor.id] : [])))]
    const from = new Date(daysUntil(horizon.now)[0]!.startMs)
    const [times, incidents, maintenance, medians] = await Promise.all([
      timesInStatus(db, ids, from, horizon.now),
      incidentsOfPage(db, page.projectId, ids, from, horizon.recent),
      maintenanceOfPage(db, ids, horizon),
      page.showResponseTimes ? readMedians(ids, from, known?.medians ?? null) : null,
    ])
    const facts: PageFacts = {
      page,
      groups,
      components,
      times,
      incidents,
      maintenance,
      medians: medians?.byMonitor ?? null,
    }
    const pause = createPauses(0)
    const view = viewOf(facts, publicUrl, await safeCss(page, known), horizon.now)
    // one of 500 components takes 15 ms, and rendering it 30 more
    await pause()
    return { view, fingerprint, loadedMs: horizon.now.getTime(), medians, images, sizeBytes: sizeOf(view, images) }
  }

  return async function read(site: Site, known: LoadedPage | null): Promise<LoadedPage | null> {
    const at = now()
    const horizon = { now: at, recent: new Date(at.getTime() - RECENT_MS), soon: new Date(at.getTime() + RECENT_MS) }
    const found = await findPublished(tools.db, site, horizon)
    if (found === null) return null
    const isSame = known?.fingerprint === found.fingerprint && at.getTime() - known.loadedMs < OLDEST_MS
    return isSame ? known : load(found.page, found.fingerprint, horizon, known)
  }
}

/**
 * What was refused when it was saved is not stored; a rule that came later leaves old styles out. What a page says matters
 * more than how it looks: while styles cannot be read it has those of before, or none.
 */
async function safeCss({ projectId, customCss }: StoredPage, known: LoadedPage | null): Promise<string | null> {
  if (customCss === null) return null
  const made = await readCss(projectId, customCss).catch(() => ({ css: known?.view.customCss ?? null }))
  return 'css' in made ? made.css : null
}

const BYTES_A_DAY = 250

function sizeOf(view: PageView, images: LoadedPage['images']): number {
  const components = view.sections.flatMap(section =>
    section.kind === 'group' ? section.group.components : section.component,
  )
  const days = components.reduce((sum, { days }) => sum + (days?.length ?? 0), 0)
  const { days: _, ...texts } = { ...view, days: null, sections: null }
  const bytes = (images.logo?.bytes.length ?? 0) + (images.favicon?.bytes.length ?? 0)
  return days * BYTES_A_DAY + components.length * 1_000 + JSON.stringify(texts).length * 2 + bytes
}
