import type { EventName, IncidentEventData } from '../events/catalog.ts'
import { humanDuration } from '../events/duration.ts'
import type { Envelope } from '../events/envelope.ts'
import type { Fact, Notice } from './notice.ts'
import type { RenderContext } from './types.ts'
import { acknowledgeUrl, inWords, isOpen, listed, titled, webLink } from './wording.ts'

type IncidentEvent = Extract<EventName, `incident.${string}`>
type Head = Pick<Notice, 'tone' | 'badge' | 'title'>

/** What an event about an incident says. */
export function incidentNotice(envelope: Envelope<IncidentEvent>, { publicUrl }: RenderContext): Notice {
  const { event, data, delivered_at: at } = envelope
  const { incident, update } = data
  const mayAcknowledge = incident.acknowledged_at === null && isOpen(incident.status)
  return {
    ...HEADS[event](incident),
    text: update?.message || null,
    facts: factsOf(data),
    open: webLink('Open in Picket', data.dashboard_url),
    acknowledge: mayAcknowledge ? { url: acknowledgeUrl(publicUrl, incident.id), incidentId: incident.id } : null,
    topic: `incident:${incident.id}`,
    at,
  }
}

const toneOf = (severity: string) => (severity === 'minor' ? 'degraded' : 'down')

const HEADS: Record<IncidentEvent, (incident: IncidentEventData['incident']) => Head> = {
  'incident.created': ({ title, severity }) => ({
    tone: toneOf(severity),
    badge: 'Incident',
    title: `New incident: ${title}`,
  }),
  'incident.updated': ({ title, severity }) => ({ tone: toneOf(severity), badge: 'Update', title: `Update: ${title}` }),
  'incident.acknowledged': ({ title }) => ({
    tone: 'neutral',
    badge: 'Acknowledged',
    title: `Acknowledged: ${title}`,
  }),
  'incident.resolved': ({ title }) => ({ tone: 'up', badge: 'Resolved', title: `Resolved: ${title}` }),
}

function factsOf({ incident, update, monitors, status_page_url: page }: IncidentEventData): Fact[] {
  const lastedMs =
    incident.resolved_at === null ? null : Date.parse(incident.resolved_at) - Date.parse(incident.started_at)
  return [
    { label: 'Status', value: inWords(incident.status) },
    { label: 'Severity', value: inWords(incident.severity) },
    ...(monitors.length > 0
      ? [{ label: titled(monitors.length, 'Monitor'), value: listed(monitors.map(({ name }) => name)) }]
      : []),
    ...(lastedMs === null ? [] : [{ label: 'Lasted', value: humanDuration(lastedMs) }]),
    ...(update?.is_internal ? [{ label: 'Note', value: 'internal, not on any status page' }] : []),
    ...(page === null ? [] : [{ label: 'Status page', value: page }]),
  ]
}
