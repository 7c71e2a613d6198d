/** The names of the events (docs/design/events.md#catalog). */
export const EVENT_NAMES = [
  'monitor.down',
  'monitor.up',
  'monitor.degraded',
  'monitor.ssl_expiry',
  'monitor.domain_expiry',
  'monitor.unchecked',
  'incident.created',
  'incident.updated',
  'incident.acknowledged',
  'incident.resolved',
  'vendor.down',
  'vendor.degraded',
  'vendor.resolved',
] as const
export type EventName = (typeof EVENT_NAMES)[number]

/** Data of `monitor.*` (docs/design/events.md#monitor-data). Times are ISO 8601 UTC. */
export type MonitorEventData = {
  monitor: { id: string; name: string; url: string | null; type: string; status: string | null }
  check: {
    region: string
    /** the failing regions */
    regions: string[] | null
    /** 0 without one */
    status_code: number
    response_time_ms: number
    /** "" without one */
    error: string
  }
  ssl_expiry_days: number | null
  domain_expiry_days: number | null
  /** "4 minutes 12 seconds"; null unless an outage ended */
  down_duration: string | null
  incident: { id: string; title: string; status: string; severity: string; started_at: string } | null
  dashboard_url: string
}

/** Data of `incident.*` (docs/design/events.md#incident-data). */
export type IncidentEventData = {
  incident: {
    id: string
    title: string
    status: string
    severity: string
    started_at: string
    resolved_at: string | null
    acknowledged_at: string | null
    acknowledged_by: string | null
  }
  update: {
    id: string
    status: string
    message: string
    is_internal: boolean
    author_id: string | null
    /** posted by the system; not part of webhooks, and missing in events of an earlier version */
    is_automatic?: boolean
    created_at: string
  } | null
  monitors: { id: string; name: string; status: string | null }[]
  dashboard_url: string
  status_page_url: string | null
}

/** Data of `vendor.*` (docs/design/events.md#vendor-data). */
export type VendorEventData = {
  vendor: { name: string; category: string }
  incident: { title: string; severity: string; status: string; source_url: string }
}

export type EventData<Name extends EventName> = Name extends `monitor.${string}`
  ? MonitorEventData
  : Name extends `incident.${string}`
    ? IncidentEventData
    : VendorEventData

/** A fact with a name of the catalog. Deliveries about one `subject` are sent in order. */
export type EventRow<Name extends EventName = EventName> = {
  id: string
  projectId: string
  name: Name
  /** `monitor:<id>`, `incident:<id>` or `vendor:<id>` */
  subject: string
  data: EventData<Name>
  occurredAt: Date
}

export const toMonitorSubject = (monitorId: string): string => `monitor:${monitorId}`
export const toIncidentSubject = (incidentId: string): string => `incident:${incidentId}`
/** The subject of a vendor event is the dependency that tracks the vendor. */
export const toVendorSubject = (dependencyId: string): string => `vendor:${dependencyId}`

/** Returns the id of the monitor, or null for another kind of subject. */
export const parseMonitorSubject = (subject: string): string | null => /^monitor:(.+)$/.exec(subject)?.[1] ?? null
/** Returns the id of the dependency, or null for another kind of subject. */
export const parseVendorSubject = (subject: string): string | null => /^vendor:(.+)$/.exec(subject)?.[1] ?? null
/** Returns the id of the incident, or null for another kind of subject. */
export const parseIncidentSubject = (subject: string): string | null => /^incident:(.+)$/.exec(subject)?.[1] ?? null
