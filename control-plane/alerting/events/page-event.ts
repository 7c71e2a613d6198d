import type { IncidentEventData } from './catalog.ts'

/** How the queue names what subscribers of a status page are sent. None of the catalogue's: no alert channel hears of it. */
export const PAGE_NOTICE = 'page.notice'
export const PAGE_CONFIRMATION = 'page.confirmation'
export type PageEventName = typeof PAGE_NOTICE | typeof PAGE_CONFIRMATION

export const isPageEvent = (name: string): name is PageEventName => name === PAGE_NOTICE || name === PAGE_CONFIRMATION

/** `url`: where it stands, without a slash at the end. */
export type EventPage = { id: string; name: string; url: string }

/** What visitors may know of something that happened to an incident. Times are ISO 8601 UTC. */
export type PageChange = {
  event: 'incident.created' | 'incident.updated' | 'incident.resolved'
  at: string
  incident: Pick<IncidentEventData['incident'], 'id' | 'title' | 'status' | 'severity' | 'started_at' | 'resolved_at'>
  /** a public one, null without words */
  update: { id: string; status: string; message: string; created_at: string } | null
  /** of the page; none: it is about the whole page */
  components: { id: string; name: string }[]
}

export type PageNoticeData = { page: EventPage; changes: PageChange[] }

/** `isKnown`: the address is confirmed already, and is shown where to change what it hears. */
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

/** The lane of one subscriber: what they hear, they hear in order. */
export const toSubscriberSubject = (subscriberId: string): string => `subscriber:${subscriberId}`
export const toPageSubject = (pageId: string): string => `page:${pageId}`

const PUBLIC_EVENTS = ['incident.created', 'incident.updated', 'incident.resolved'] as const

/**
 * What an event tells visitors of a page, null where that is nothing: what is internal is nobody's business, and an
 * acknowledgement the team's own. An incident that an internal word resolved is told as resolved, without the word.
 */
export function toPublicChange(
  event: { name: string; occurredAt: Date; data: IncidentEventData },
  components: PageChange['components'],
): PageChange | null {
  const name = PUBLIC_EVENTS.find(told => told === event.name)
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

/** True for what the system told by itself; many of these at once become one message. */
export const isAutomaticUpdate = ({ update }: IncidentEventData): boolean =>
  update === null || update.author_id === null
