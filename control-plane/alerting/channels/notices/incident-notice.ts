import type { EventName, IncidentEventData } from '../../events/catalog.ts'
import { formatDuration } from '../../events/duration.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { RenderContext } from '../types.ts'
import type { Fact, NoticeContent } from './notice-content.ts'
import { buildAcknowledgeUrl, formatList, formatState, isOpenStatus, pluralize, toWebLink } from './wording.ts'

type IncidentEvent = Extract<EventName, `incident.${string}`>
type Headline = Pick<NoticeContent, 'tone' | 'badge' | 'title'>

/** Converts an event about an incident to a notice. */
export function toIncidentNotice(envelope: Envelope<IncidentEvent>, { publicUrl }: RenderContext): NoticeContent {
  const { event, data, delivered_at: at } = envelope
  const { incident, update } = data
  const mayAcknowledge = incident.acknowledged_at === null && isOpenStatus(incident.status)
  return {
    ...HEADLINES[event](incident),
    text: update?.message || null,
    facts: buildFacts(data),
    open: toWebLink('Open in Picket', data.dashboard_url),
    acknowledge: mayAcknowledge ? { url: buildAcknowledgeUrl(publicUrl, incident.id), incidentId: incident.id } : null,
    topic: `incident:${incident.id}`,
    at,
  }
}

const toTone = (severity: string) => (severity === 'minor' ? 'degraded' : 'down')

const HEADLINES: Record<IncidentEvent, (incident: IncidentEventData['incident']) => Headline> = {
  'incident.created': ({ title, severity }) => ({
    tone: toTone(severity),
    badge: 'Incident',
    title: `New incident: ${title}`,
  }),
  'incident.updated': ({ title, severity }) => ({ tone: toTone(severity), badge: 'Update', title: `Update: ${title}` }),
  'incident.acknowledged': ({ title }) => ({
    tone: 'neutral',
    badge: 'Acknowledged',
    title: `Acknowledged: ${title}`,
  }),
  'incident.resolved': ({ title }) => ({ tone: 'up', badge: 'Resolved', title: `Resolved: ${title}` }),
}

function buildFacts({ incident, update, monitors, status_page_url: page }: IncidentEventData): Fact[] {
  const lastedMs =
    incident.resolved_at === null ? null : Date.parse(incident.resolved_at) - Date.parse(incident.started_at)
  return [
    { label: 'Status', value: formatState(incident.status) },
    { label: 'Severity', value: formatState(incident.severity) },
    ...(monitors.length > 0
      ? [{ label: pluralize(monitors.length, 'Monitor'), value: formatList(monitors.map(({ name }) => name)) }]
      : []),
    ...(lastedMs === null ? [] : [{ label: 'Lasted', value: formatDuration(lastedMs) }]),
    ...(update?.is_internal ? [{ label: 'Note', value: 'internal, not shown on status pages' }] : []),
    ...(page === null ? [] : [{ label: 'Status page', value: page }]),
  ]
}
