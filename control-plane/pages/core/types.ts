import type { MaintenanceStage } from '../../alerting/events/maintenance-event.ts'
import type { IncidentStatus, Severity } from '../../verdict/incidents/lifecycle.ts'

export const TEMPLATE_NAMES = ['minimal', 'brand', 'terminal', 'modern', 'clean', 'developer'] as const
export type TemplateName = (typeof TEMPLATE_NAMES)[number]

/** Statuses of a component (docs/design/status-pages.md#components); set manually when it has no monitor. */
export const COMPONENT_STATUSES = ['operational', 'degraded', 'outage', 'unknown'] as const
export type ComponentStatus = (typeof COMPONENT_STATUSES)[number]

/** What visitors see: `maintenance` during a maintenance window, whatever the status of the monitor. */
export type DisplayStatus = ComponentStatus | 'maintenance'

/**
 * One UTC day of a component's bar; the seconds add up to the elapsed part of the day
 * (docs/design/status-pages.md#bars).
 */
export type DayView = {
  /** `2026-11-21` */
  date: string
  /** the worst of the day; `unknown` when the monitor had no status */
  status: DisplayStatus
  upSeconds: number
  degradedSeconds: number
  downSeconds: number
  maintenanceSeconds: number
  unknownSeconds: number
  /** incidents that affected the component on that day, at most 10 */
  incidents: readonly { id: string; title: string }[]
  /** how many others affected it; absent when there are none */
  moreIncidents?: number
}

export type ComponentView = {
  id: string
  name: string
  description: string | null
  status: DisplayStatus
  /** oldest first, 90 of them; null without a monitor */
  days: readonly DayView[] | null
  /** up and degraded time divided by known time of the 90 days, 0 to 100; null when hidden or unknown */
  uptimePercent: number | null
  /** one median of successful checks per day in ms, oldest first; null when hidden or ClickHouse is unreachable */
  responseTimes: readonly { date: string; medianMs: number | null }[] | null
  updatedAt: string
}

export type GroupView = {
  id: string
  name: string
  description: string | null
  isCollapsed: boolean
  /** the worst of its components */
  status: DisplayStatus
  components: readonly ComponentView[]
}

/** A public update; internal ones never reach a view. */
export type UpdateView = { id: string; status: IncidentStatus; message: string; at: string }

export type IncidentView = {
  id: string
  title: string
  status: IncidentStatus
  severity: Severity
  startedAt: string
  resolvedAt: string | null
  /** newest first */
  updates: readonly UpdateView[]
  /** of a resolved incident; null unless it is published */
  postmortem: { text: string; publishedAt: string } | null
  /** those that JSON files list */
  componentIds: readonly string[]
  /** those that pages and feeds name */
  componentNames: readonly string[]
  /** how many are affected; absent when the lists have all */
  componentCount?: number
}

export type MaintenanceView = {
  id: string
  name: string
  description: string | null
  isRunning: boolean
  startsAt: string
  endsAt: string
  /** those that JSON files list */
  componentIds: readonly string[]
  /** those that pages and feeds name */
  componentNames: readonly string[]
  /** how many are affected; absent when the lists have all */
  componentCount?: number
}

/** A period of maintenance for which notices were sent to subscribers. `id` stays the same when it is moved. */
export type NoticedMaintenanceView = Omit<MaintenanceView, 'isRunning'> & {
  /** the first beginning that was sent */
  firstStartsAt: string
  /** oldest first, at least one; `previous`: of the newest change, the time before it. ISO 8601 UTC */
  notices: readonly {
    stage: Exclude<MaintenanceStage, 'cancelled'>
    at: string
    previous: { startsAt: string; endsAt: string } | null
  }[]
}

export type OverallStatus = 'operational' | 'degraded' | 'partial_outage' | 'outage' | 'maintenance' | 'unknown'

/** Everything that a public page, its feeds, badges and JSON show. Plain data; texts are not escaped. */
export type PageView = {
  id: string
  name: string
  slug: string
  template: TemplateName
  /** `#rrggbb` */
  brandColor: string
  /** where the page is on the origin for which the view was built: `/status/acme`, or empty on its custom domain */
  path: string
  /** a path on the same origin: `/status/acme/logo?v=3f9a`, or `/logo?v=3f9a` on its custom domain */
  logoUrl: string | null
  faviconUrl: string | null
  /** sanitized (docs/design/status-pages.md#custom-css) */
  customCss: string | null
  seoTitle: string | null
  seoDescription: string | null
  showResponseTimes: boolean
  showUptimePercentage: boolean
  /** the address of the page without a trailing slash: `https://host/status/acme` or `https://status.acme.com` */
  publicUrl: string
  /** when this was read */
  at: string
  /** set only while PostgreSQL is unreachable, or results are not read: the time of the data that is shown */
  staleSince?: string
  overall: { status: OverallStatus; sentence: string }
  /** top level in display order: groups and components without a group */
  sections: readonly ({ kind: 'group'; group: GroupView } | { kind: 'component'; component: ComponentView })[]
  /** open ones, newest first */
  openIncidents: readonly IncidentView[]
  /** resolved within the last 14 days, newest first */
  pastIncidents: readonly IncidentView[]
  /** running ones and those of the next 14 days, soonest first */
  maintenance: readonly MaintenanceView[]
  /** announced, running and recent ones with notices, newest first; feeds show them */
  noticedMaintenance: readonly NoticedMaintenanceView[]
}

export type ImageKind = 'logo' | 'favicon'

/** A logo or favicon. The bytes of an id never change. */
export type StoredImage = { id: string; contentType: string; bytes: Buffer }

/** Median response time in ms by monitor and day (UTC): `medians.get(monitorId)?.get('2026-11-21')`. */
export type DailyMedians = ReadonlyMap<string, ReadonlyMap<string, number>>

/** A page as it was read: its view, and what the next read needs. */
export type LoadedPage = {
  view: PageView
  /** unchanged while nothing that the view shows has changed, except by the passage of time */
  fingerprint: string
  /** of the monotonic clock, like that of the medians */
  loadedMs: number
  /** null: ClickHouse has never answered */
  medians: { byMonitor: DailyMedians; ids: ReadonlySet<string>; loadedMs: number } | null
  images: Record<ImageKind, StoredImage | null>
  /** approximate size of view and images */
  sizeBytes: number
}

/** A page is loaded as a whole. */
export const MAX_COMPONENTS = 500
