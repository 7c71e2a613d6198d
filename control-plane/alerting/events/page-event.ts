import type { IncidentEventData } from './catalog.ts'
import type { MaintenanceEventData, MaintenanceEventName } from './maintenance-event.ts'

/** Names of the messages to subscribers of status pages. They are not in the catalog; alert channels never receive them. */
export const PAGE_NOTICE = 'page.notice'
export const PAGE_CONFIRMATION = 'page.confirmation'
export type PageEventName = typeof PAGE_NOTICE | typeof PAGE_CONFIRMATION

export const isPageEvent = (name: string): name is PageEventName => name === PAGE_NOTICE || name === PAGE_CONFIRMATION

/** `url`: address of the page, without a slash at the end. */
export type EventPage = { id: string; name: string; url: string }

/** A change that subscribers are sent. */
export type PageChange = PageIncidentChange | PageMaintenanceChange

/** The public part of a change of an incident. Times are ISO 8601 UTC. */
export type PageIncidentChange = {
  event: 'incident.created' | 'incident.updated' | 'incident.resolved'
  at: string
  incident: Pick<IncidentEventData['incident'], 'id' | 'title' | 'status' | 'severity' | 'started_at' | 'resolved_at'>
  /** a public update; null without a message */
  update: { id: string; status: string; message: string; created_at: string } | null
  /** affected components of the page; empty: the whole page */
  components: { id: string; name: string }[]
}

/** A period of maintenance that is announced, changed or cancelled, begins or ends. Times are ISO 8601 UTC. */
export type PageMaintenanceChange = {
  event: MaintenanceEventName
  at: string
  maintenance: MaintenanceEventData['maintenance']
  previous?: MaintenanceEventData['previous']
  /** affected components of the page, at least one */
  components: { id: string; name: string }[]
}

export type PageNoticeData = { page: EventPage; changes: PageChange[] }

/** `isKnown`: the address is already confirmed; the message leads to the page that changes the subscription. */
export type PageConfirmationData = { page: EventPage; isKnown: boolean; expires_at: string }

export type PageEventRow = {
  id: string
  projectId: string
  subject: string
  occurredAt: Date
} & (
  | { name: typeof PAGE_NOTICE; data: PageNoticeData }
  | { name: typeof PAGE_CONFIRMATION; data: PageConfirmationData }
)

/** The subject of the messages to one subscriber, which are sent in order. */
export const toSubscriberSubject = (subscriberId: string): string => `subscriber:${subscriberId}`
export const toPageSubject = (pageId: string): string => `page:${pageId}`

const PUBLIC_EVENTS = ['incident.created', 'incident.updated', 'incident.resolved'] as const

/**
 * Returns the public part of an event, or null. Internal updates and acknowledgements are not public. An incident that an
 * internal update resolved is reported as resolved, without the update.
 */
export function toPublicChange(
  event: { name: string; occurredAt: Date; data: IncidentEventData },
  components: PageChange['components'],
): PageIncidentChange | null {
  const name = PUBLIC_EVENTS.find(one => one === event.name)
  const { incident, update } = event.data
  const isInternal = update?.is_internal === true
  if (name === undefined || (isInternal && name === 'incident.updated')) return null
  const { id, title, status, severity, started_at, resolved_at } = incident
  return {
    event: name,
    at: event.occurredAt.toISOString(),
    incident: { id, title, status, severity, started_at, resolved_at },
    update: isInternal || update === null ? null : toPublicUpdate(update),
    components,
  }
}

const toPublicUpdate = ({ id, status, message, created_at }: NonNullable<IncidentEventData['update']>) => ({
  id,
  status,
  message,
  created_at,
})

/**
 * True for a change that the system made. Many of these together become one message. An update without an author can be one by
 * a key without a creator, whose text has to be sent; only events of an earlier version do not say it.
 */
export const isAutomaticUpdate = ({ update }: IncidentEventData): boolean =>
  update === null || (update.is_automatic ?? update.author_id === null)
