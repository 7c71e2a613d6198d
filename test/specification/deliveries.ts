/** The published events, each with the kind of its data (docs/design/events.md#catalog). */
export const EVENTS: Record<string, keyof typeof EVENT_FIELDS> = {
  'monitor.down': 'monitor',
  'monitor.up': 'monitor',
  'monitor.degraded': 'monitor',
  'monitor.ssl_expiry': 'monitor',
  'monitor.domain_expiry': 'monitor',
  'incident.created': 'incident',
  'incident.updated': 'incident',
  'incident.acknowledged': 'incident',
  'incident.resolved': 'incident',
  'vendor.down': 'vendor',
  'vendor.degraded': 'vendor',
  'vendor.resolved': 'vendor',
}

export const ENVELOPE = ['api_version', 'event', 'delivery_id', 'delivered_at', 'data']

/** The fields of `data`, as paths. Below a list the path is that of an item. */
export const EVENT_FIELDS = {
  monitor: [
    ...['monitor.id', 'monitor.name', 'monitor.url', 'monitor.type', 'monitor.status'],
    ...['check.region', 'check.regions', 'check.status_code', 'check.response_time_ms', 'check.error'],
    ...['ssl_expiry_days', 'domain_expiry_days', 'down_duration', 'incident', 'dashboard_url'],
  ],
  incident: [
    ...['incident.id', 'incident.title', 'incident.status', 'incident.severity', 'incident.started_at'],
    ...['incident.resolved_at', 'incident.acknowledged_at', 'incident.acknowledged_by', 'update'],
    ...['monitors.id', 'monitors.name', 'monitors.status', 'dashboard_url', 'status_page_url'],
  ],
  vendor: [
    ...['vendor.name', 'vendor.category'],
    ...['incident.title', 'incident.severity', 'incident.status', 'incident.source_url'],
  ],
}

/** Headers of a delivery (docs/design/events.md#signatures). */
export const HEADERS = ['X-Service-Event', 'X-Service-Delivery', 'X-Service-Signature', 'X-Service-Delivery-Retry']
