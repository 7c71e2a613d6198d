import { groupBy } from '../../shared/group-by.ts'
import { statusOf, worstOf } from './component-status.ts'
import { barOf, type Day, daysUntil, uptimeOf } from './days.ts'
import type { IncidentFact, MaintenanceFact, PageFacts, TimeInStatus } from './facts.ts'
import { byOrder } from './order.ts'
import { overallOf } from './overall.ts'
import { imagePathOf, publicUrlOf } from './public-url.ts'
import type { StoredComponent } from './records.ts'
import type { ComponentView, GroupView, IncidentView, MaintenanceView, PageView } from './types.ts'

const DAY_MS = 86_400_000
/** How long past incidents stay on a page, and how far ahead maintenance is told. */
export const RECENT_MS = 14 * DAY_MS

/**
 * What a page shows at `now`, made of what was read. `origin` is ours, without a slash at the end; `customCss` is
 * already made safe.
 */
export function viewOf(facts: PageFacts, origin: string, customCss: string | null, now: Date): PageView {
  const { page } = facts
  const lookUp = indexOf(facts, now)
  const components = facts.components.map(component => ({ component, view: componentView(facts, lookUp, component) }))
  const open = facts.incidents.filter(({ resolvedAt }) => resolvedAt === null)
  const past = facts.incidents.filter(
    ({ resolvedAt }) => resolvedAt && resolvedAt.getTime() > now.getTime() - RECENT_MS,
  )
  return {
    id: page.id,
    name: page.name,
    slug: page.slug,
    template: page.template,
    brandColor: page.brandColor,
    logoUrl: imagePathOf(page, 'logo'),
    faviconUrl: imagePathOf(page, 'favicon'),
    customCss,
    seoTitle: page.seoTitle,
    seoDescription: page.seoDescription,
    showResponseTimes: page.showResponseTimes,
    showUptimePercentage: page.showUptimePercentage,
    publicUrl: publicUrlOf(page, origin),
    at: now.toISOString(),
    overall: overallOf(
      components.map(({ view }) => view.status),
      open,
    ),
    sections: sectionsOf(facts, components),
    openIncidents: open.map(incident => incidentView(incident, facts.components)).sort(newestFirst('startedAt')),
    pastIncidents: past.map(incident => incidentView(incident, facts.components)).sort(newestFirst('resolvedAt')),
    maintenance: facts.maintenance.map(fact => maintenanceView(fact, facts.components, now)),
  }
}

const newestFirst = (key: 'startedAt' | 'resolvedAt') => (a: IncidentView, b: IncidentView) =>
  (b[key] ?? '').localeCompare(a[key] ?? '') || b.id.localeCompare(a.id)

/** What components look up by their monitors. */
type Index = {
  days: Day[]
  times: Map<string, TimeInStatus[]>
  incidents: Map<string, IncidentFact[]>
  maintained: Set<string>
}

function indexOf({ times, incidents, maintenance }: PageFacts, now: Date): Index {
  const touches = incidents.flatMap(incident => incident.monitorIds.map(monitorId => ({ monitorId, incident })))
  const byMonitor = groupBy(touches, ({ monitorId }) => monitorId)
  const running = maintenance.filter(({ startsAt, endsAt }) => startsAt <= now && endsAt > now)
  return {
    days: daysUntil(now),
    times: groupBy(times, ({ monitorId }) => monitorId),
    incidents: new Map([...byMonitor].map(([id, touching]) => [id, touching.map(({ incident }) => incident)])),
    maintained: new Set(running.flatMap(({ monitorIds }) => monitorIds)),
  }
}

function componentView({ page, medians }: PageFacts, lookUp: Index, component: StoredComponent): ComponentView {
  const { id, name, description, monitor } = component
  const days = monitor && barOf(lookUp.times.get(monitor.id) ?? [], lookUp.incidents.get(monitor.id) ?? [], lookUp.days)
  // null where they are not to be shown: then nothing made of the view can tell them either
  const medianOf = monitor && page.showResponseTimes ? medians?.get(monitor.id) : undefined
  return {
    id,
    name,
    description,
    status: monitor && lookUp.maintained.has(monitor.id) ? 'maintenance' : statusOf(component),
    days,
    uptimePercent: days && page.showUptimePercentage ? uptimeOf(days) : null,
    responseTimes: medianOf ? lookUp.days.map(({ date }) => ({ date, medianMs: medianOf.get(date) ?? null })) : null,
    updatedAt: laterOf(component.updatedAt, monitor?.changedAt ?? null),
  }
}

function laterOf(at: Date, other: string | null): string {
  return new Date(Math.max(at.getTime(), other === null ? 0 : Date.parse(other))).toISOString()
}

type Placed = { component: StoredComponent; view: ComponentView }

function sectionsOf({ groups }: PageFacts, components: readonly Placed[]): PageView['sections'] {
  const inGroup = groupBy(components, ({ component }) => component.groupId)
  const alone = (inGroup.get(null) ?? []).map(({ component, view }) => ({
    id: component.id,
    displayOrder: component.displayOrder,
    section: { kind: 'component' as const, component: view },
  }))
  const grouped = groups.map(({ id, displayOrder, name, description, isCollapsed }) => {
    const views = (inGroup.get(id) ?? []).toSorted((a, b) => byOrder(a.component, b.component)).map(({ view }) => view)
    const status = worstOf(views.map(view => view.status))
    const group: GroupView = { id, name, description, isCollapsed, status, components: views }
    return { id, displayOrder, section: { kind: 'group' as const, group } }
  })
  return [...alone, ...grouped].sort(byOrder).map(({ section }) => section)
}

function incidentView(incident: IncidentFact, components: readonly StoredComponent[]): IncidentView {
  const touched = shownOf(incident.monitorIds, components)
  return {
    id: incident.id,
    title: incident.title,
    status: incident.status,
    severity: incident.severity,
    startedAt: incident.startedAt.toISOString(),
    resolvedAt: incident.resolvedAt?.toISOString() ?? null,
    updates: incident.updates.map(update => ({ ...update, at: new Date(update.at).toISOString() })),
    componentIds: touched.map(({ id }) => id),
    componentNames: touched.map(({ name }) => name),
  }
}

/** `id` tells periods of one window apart. */
function maintenanceView(fact: MaintenanceFact, components: readonly StoredComponent[], now: Date): MaintenanceView {
  return {
    id: `${fact.windowId}-${fact.startsAt.getTime() / 1_000}`,
    name: fact.title,
    description: fact.description,
    isRunning: fact.startsAt <= now,
    startsAt: fact.startsAt.toISOString(),
    endsAt: fact.endsAt.toISOString(),
    componentNames: shownOf(fact.monitorIds, components).map(({ name }) => name),
  }
}

const shownOf = (monitorIds: readonly string[], components: readonly StoredComponent[]) =>
  components.filter(({ monitor }) => monitor !== null && monitorIds.includes(monitor.id))
