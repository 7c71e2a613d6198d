import type { IncidentStatus, Severity } from '../../verdict/incidents/lifecycle.ts'

export const TEMPLATE_NAMES = ['minimal', 'brand', 'terminal', 'modern', 'clean', 'developer'] as const
export type TemplateName = (typeof TEMPLATE_NAMES)[number]

/** What a component can be (decisions 7.1); set by hand where it has no monitor. */
export const COMPONENT_STATUSES = ['operational', 'degraded', 'outage', 'unknown'] as const
export type ComponentStatus = (typeof COMPONENT_STATUSES)[number]

/** What visitors see: a component in a maintenance window says so, whatever its monitor says. */
export type DisplayStatus = ComponentStatus | 'maintenance'

/** One day (UTC) of a component's bar; shares of the day's seconds so far, adding up to 1 (decisions 7.5). */
export type DayView = {
  /** `2026-11-21` */
  date: string
  /** the worst of the day; `unknown` where nothing was watched */
  status: DisplayStatus
  upSeconds: number
  degradedSeconds: number
  downSeconds: number
  maintenanceSeconds: number
  unknownSeconds: number
  /** titles of incidents that touched the component on that day */
  incidents: readonly { id: string; title: string }[]
}

export type ComponentView = {
  id: string
  name: string
  description: string | null
  status: DisplayStatus
  /** oldest first, 90 of them; null without a monitor */
  days: readonly DayView[] | null
  /** up and degraded over watched seconds of the 90 days, 0 to 100; null when not shown or nothing was watched */
  uptimePercent: number | null
  /** one figure a day, median of successful checks in ms, oldest first; null when not shown, private or ClickHouse is away */
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
  componentIds: readonly string[]
  componentNames: readonly string[]
}

export type MaintenanceView = {
  id: string
  name: string
  description: string | null
  isRunning: boolean
  startsAt: string
  endsAt: string
  componentNames: readonly string[]
}

export type OverallStatus = 'operational' | 'degraded' | 'partial_outage' | 'outage' | 'maintenance' | 'unknown'

/** All that a public page, its feeds, badges and JSON show. Plain data; every text is still unescaped. */
export type PageView = {
  id: string
  name: string
  slug: string
  template: TemplateName
  /** `#rrggbb` */
  brandColor: string
  /** a path that stands on every origin at which the page is served: `/status/acme/logo?v=3f9a` */
  logoUrl: string | null
  faviconUrl: string | null
  /** already made safe (decisions 7.3) */
  customCss: string | null
  seoTitle: string | null
  seoDescription: string | null
  showResponseTimes: boolean
  showUptimePercentage: boolean
  /** where the page itself stands, without a slash at the end: `https://host/status/acme` or `https://status.acme.com` */
  publicUrl: string
  /** when this was looked up */
  at: string
  /** there only while PostgreSQL is away: what is shown was true then, and may not be now */
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
}

export type ImageKind = 'logo' | 'favicon'

/** A logo or favicon; what has an id never changes. */
export type StoredImage = { id: string; contentType: string; bytes: Buffer }

/** Median response time in ms by monitor and day (UTC): `medians.get(monitorId)?.get('2026-11-21')`. */
export type DailyMedians = ReadonlyMap<string, ReadonlyMap<string, number>>

/** A page as it was read: its view, and what the next look at it needs. */
export type LoadedPage = {
  view: PageView
  /** equal as long as nothing that the view shows has changed, but for what time itself changes */
  fingerprint: string
  loadedMs: number
  /** null: ClickHouse has never answered */
  medians: { byMonitor: DailyMedians; ids: ReadonlySet<string>; loadedMs: number } | null
  images: Record<ImageKind, StoredImage | null>
  /** of view and images, about */
  sizeBytes: number
}
