import { groupBy } from '../../../../shared/group-by.ts'
import { buildPeriodId } from '../../../alerting/events/maintenance-event.ts'
import type { MonitorStatusTime } from '../../../insight/analytics/uptime/status-time.ts'
import { getComponentStatus, pickWorstStatus } from '../../core/component-status.ts'
import { compareDisplayOrder } from '../../core/display-order.ts'
import { toPublicMessage, toPublicTitle } from '../../core/incident-names.ts'
import { buildImagePath, buildPublicUrl } from '../../core/public-url.ts'
import type { StoredComponent } from '../../core/records.ts'
import type {
  ComponentView,
  DayView,
  GroupView,
  IncidentView,
  MaintenanceView,
  NoticedMaintenanceView,
  PageView,
} from '../../core/types.ts'
import { MAX_NAMED_COMPONENTS } from '../../templates/labels.ts'
import { type AffectedView, createAffectedViews, listAffected } from './affected.ts'
import { type BarDay, buildBar, computeBarUptime, limitNamedIncidents, listBarDays } from './days.ts'
import { computeOverallStatus } from './overall-status.ts'
import type { PageData, PageIncident, PageMaintenance, PageNoticedMaintenance } from './page-data.ts'

const DAY_MS = 86_400_000
/** How long past incidents stay on a page, and how far ahead maintenance is shown. */
export const RECENT_MS = 14 * DAY_MS

/**
 * Builds the view of a page at `now`. `origin`: the public origin of Picket, without a trailing slash. `path`: that of the page
 * on the origin of the visitor. `customCss` is sanitized.
 */
export function buildPageView(
  stored: PageData,
  { origin, path }: { origin: string; path: string },
  customCss: string | null,
  now: Date,
): PageView {
  const incidents = stored.incidents.map(incident => nameByComponent(incident, stored.components))
  const data = { ...stored, incidents }
  const { page } = data
  const index = buildIndex(data, now)
  const bars = buildBars(data, index)
  const components = data.components.map(component => ({
    component,
    view: buildComponentView(data, { ...index, bars }, component),
  }))
  const open = data.incidents.filter(({ resolvedAt }) => resolvedAt === null)
  const past = data.incidents.filter(({ resolvedAt }) => resolvedAt && resolvedAt.getTime() > now.getTime() - RECENT_MS)
  return {
    id: page.id,
    name: page.name,
    slug: page.slug,
    template: page.template,
    brandColor: page.brandColor,
    path,
    logoUrl: buildImagePath(page, 'logo', path),
    faviconUrl: buildImagePath(page, 'favicon', path),
    customCss,
    seoTitle: page.seoTitle,
    seoDescription: page.seoDescription,
    showResponseTimes: page.showResponseTimes,
    showUptimePercentage: page.showUptimePercentage,
    publicUrl: buildPublicUrl(page, origin),
    at: now.toISOString(),
    overall: computeOverallStatus(
      components.map(({ view }) => view.status),
      open,
    ),
    sections: buildSections(data, components),
    ...buildEvents(data, open, past, now),
  }
}

type Events = Pick<PageView, 'openIncidents' | 'maintenance' | 'pastIncidents' | 'noticedMaintenance'>

/** The current ones first: they list all their components while the page allows it. */
function buildEvents(data: PageData, open: PageIncident[], past: PageIncident[], now: Date): Events {
  const describe = createAffectedViews(data.components)
  const openIncidents = open.map(incident => ({ ...buildIncidentView(incident), ...describe(incident.monitorIds) }))
  const maintenance = data.maintenance.map(fact => ({
    ...buildMaintenanceView(fact, now),
    ...describe(fact.monitorIds),
  }))
  const pastIncidents = past.map(incident => ({
    ...buildIncidentView(incident),
    ...describe(incident.monitorIds, MAX_NAMED_COMPONENTS),
  }))
  const noticedMaintenance = data.noticedMaintenance.map(fact => ({
    ...buildNoticedView(fact, now),
    ...describe(fact.monitorIds, MAX_NAMED_COMPONENTS),
  }))
  return {
    openIncidents: openIncidents.sort(newestFirst('startedAt')),
    pastIncidents: pastIncidents.sort(newestFirst('resolvedAt')),
    ...{ maintenance, noticedMaintenance },
  }
}

/** Visitors know the names of components; those of monitors are internal. */
function nameByComponent(incident: PageIncident, components: readonly StoredComponent[]): PageIncident {
  const { outage } = incident
  const affected = listAffected(incident.monitorIds, components)
  const component = affected.find(({ monitor }) => monitor?.id === outage?.monitorId) ?? affected[0]
  if (!component || outage === null) return incident
  const cause = { outageTitle: outage.title, componentName: component.name }
  return {
    ...incident,
    title: toPublicTitle(incident.title, cause),
    updates: incident.updates.map(update => ({ ...update, message: toPublicMessage(update.message, cause) })),
  }
}

const newestFirst = (key: 'startedAt' | 'resolvedAt') => (a: IncidentView, b: IncidentView) =>
  (b[key] ?? '').localeCompare(a[key] ?? '') || b.id.localeCompare(a.id)

/** Data by monitor id. */
type Index = {
  days: BarDay[]
  times: Map<string, MonitorStatusTime[]>
  incidents: Map<string, PageIncident[]>
  maintained: Set<string>
}

function buildIndex({ times, incidents, maintenance }: PageData, now: Date): Index {
  const affected = incidents.flatMap(incident => incident.monitorIds.map(monitorId => ({ monitorId, incident })))
  const byMonitor = groupBy(affected, ({ monitorId }) => monitorId)
  const running = maintenance.filter(({ startsAt, endsAt }) => startsAt <= now && endsAt > now)
  return {
    days: listBarDays(now),
    times: groupBy(times, ({ monitorId }) => monitorId),
    incidents: new Map([...byMonitor].map(([id, entries]) => [id, entries.map(({ incident }) => incident)])),
    maintained: new Set(running.flatMap(({ monitorIds }) => monitorIds)),
  }
}

type Bars = ReadonlyMap<string, DayView[]>

/** The bar of each monitor, once for all its components. */
function buildBars({ components }: PageData, { times, incidents, days }: Index): Bars {
  const ids = components.flatMap(({ monitor }) => (monitor ? [monitor.id] : []))
  const bars = new Map(
    [...new Set(ids)].map(id => [id, buildBar(times.get(id) ?? [], incidents.get(id) ?? [], days)] as const),
  )
  const limited = limitNamedIncidents(ids.map(id => bars.get(id)!))
  return new Map(ids.map((id, i) => [id, limited[i]!]))
}

type IndexWithBars = Index & { bars: Bars }

function buildComponentView(
  { page, medians }: PageData,
  index: IndexWithBars,
  component: StoredComponent,
): ComponentView {
  const { id, name, description, monitor } = component
  const days = monitor && index.bars.get(monitor.id)!
  // null when hidden, so no document made from the view can contain them
  const medians24h = monitor && page.showResponseTimes ? medians?.get(monitor.id) : undefined
  return {
    id,
    name,
    description,
    status: monitor && index.maintained.has(monitor.id) ? 'maintenance' : getComponentStatus(component),
    days,
    uptimePercent: days && page.showUptimePercentage ? computeBarUptime(days) : null,
    responseTimes: medians24h ? index.days.map(({ date }) => ({ date, medianMs: medians24h.get(date) ?? null })) : null,
    updatedAt: pickLater(component.updatedAt, monitor?.changedAt ?? null),
  }
}

function pickLater(at: Date, other: string | null): string {
  return new Date(Math.max(at.getTime(), other === null ? 0 : Date.parse(other))).toISOString()
}

type ComponentWithView = { component: StoredComponent; view: ComponentView }

function buildSections({ groups }: PageData, components: readonly ComponentWithView[]): PageView['sections'] {
  const inGroup = groupBy(components, ({ component }) => component.groupId)
  const alone = (inGroup.get(null) ?? []).map(({ component, view }) => ({
    id: component.id,
    displayOrder: component.displayOrder,
    section: { kind: 'component' as const, component: view },
  }))
  const grouped = groups.map(({ id, displayOrder, name, description, isCollapsed }) => {
    const views = (inGroup.get(id) ?? [])
      .toSorted((a, b) => compareDisplayOrder(a.component, b.component))
      .map(({ view }) => view)
    const status = pickWorstStatus(views.map(view => view.status))
    const group: GroupView = { id, name, description, isCollapsed, status, components: views }
    return { id, displayOrder, section: { kind: 'group' as const, group } }
  })
  return [...alone, ...grouped].sort(compareDisplayOrder).map(({ section }) => section)
}

function buildIncidentView(incident: PageIncident): Omit<IncidentView, keyof AffectedView> {
  return {
    id: incident.id,
    title: incident.title,
    status: incident.status,
    severity: incident.severity,
    startedAt: incident.startedAt.toISOString(),
    resolvedAt: incident.resolvedAt?.toISOString() ?? null,
    updates: incident.updates.map(update => ({ ...update, at: new Date(update.at).toISOString() })),
    postmortem: incident.postmortem && {
      ...incident.postmortem,
      publishedAt: new Date(incident.postmortem.publishedAt).toISOString(),
    },
  }
}

/** `id` differs between the periods of one window. */
function buildMaintenanceView(fact: PageMaintenance, now: Date): Omit<MaintenanceView, keyof AffectedView> {
  return {
    id: buildPeriodId(fact.windowId, fact.startsAt),
    name: fact.title,
    description: fact.description,
    isRunning: fact.startsAt <= now,
    startsAt: fact.startsAt.toISOString(),
    endsAt: fact.endsAt.toISOString(),
  }
}

function buildNoticedView(fact: PageNoticedMaintenance, now: Date): Omit<NoticedMaintenanceView, keyof AffectedView> {
  const { isRunning: _, ...view } = buildMaintenanceView(fact, now)
  const toIso = (text: string) => new Date(text).toISOString()
  return {
    ...view,
    id: buildPeriodId(fact.windowId, fact.firstStartsAt),
    firstStartsAt: fact.firstStartsAt.toISOString(),
    notices: fact.notices.map(({ stage, at, previous }) => ({
      stage,
      at: toIso(at),
      previous: previous && { startsAt: toIso(previous.startsAt), endsAt: toIso(previous.endsAt) },
    })),
  }
}
