import {
  type EventName,
  type EventRow,
  type IncidentEventData,
  toIncidentSubject,
} from '../../alerting/events/catalog.ts'
import { buildPageUrl, type PageAddress } from '../../alerting/events/page-url.ts'

export type IncidentEventName = Extract<EventName, `incident.${string}`>

/** What happened to an incident: its current record, and the update that caused the event, if there is one. */
type IncidentEventInput = {
  name: IncidentEventName
  projectId: string
  incident: EventIncident
  update: EventIncidentUpdate | null
  /** the public status page; null if there is none */
  statusPage: PageAddress | null
}

type EventIncident = {
  id: string
  title: string
  status: string
  severity: string
  started_at: Date
  resolved_at: Date | null
  acknowledged_at: Date | null
  acknowledged_by: string | null
  monitors: { id: string; name: string; status: string | null }[]
}

type EventIncidentUpdate = {
  id: string
  status: string
  message: string
  is_internal: boolean
  author_id: string | null
  /** posted by the system; default: false */
  is_automatic?: boolean
  created_at: Date
}

/** Builds an event about an incident. */
export function buildIncidentEvent(
  id: string,
  { name, projectId, incident, update, statusPage }: IncidentEventInput,
  publicUrl: string,
  now: Date,
): EventRow {
  const data: IncidentEventData = {
    incident: {
      id: incident.id,
      title: incident.title,
      status: incident.status,
      severity: incident.severity,
      started_at: incident.started_at.toISOString(),
      resolved_at: incident.resolved_at?.toISOString() ?? null,
      acknowledged_at: incident.acknowledged_at?.toISOString() ?? null,
      acknowledged_by: incident.acknowledged_by,
    },
    update: update && {
      id: update.id,
      status: update.status,
      message: update.message,
      is_internal: update.is_internal,
      author_id: update.author_id,
      is_automatic: update.is_automatic ?? false,
      created_at: update.created_at.toISOString(),
    },
    monitors: incident.monitors.map(({ id, name, status }) => ({ id, name, status })),
    dashboard_url: `${publicUrl}/incidents/${incident.id}`,
    status_page_url: statusPage && buildPageUrl(statusPage, publicUrl),
  }
  const subject = toIncidentSubject(incident.id)
  return { id, projectId, name, subject, data, occurredAt: now }
}
