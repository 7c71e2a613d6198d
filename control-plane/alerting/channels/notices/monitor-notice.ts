import type { EventName, MonitorEventData } from '../../events/catalog.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { RenderContext } from '../types.ts'
import type { Fact, NoticeContent, Tone } from './notice-content.ts'
import { buildAcknowledgeUrl, formatList, isOpenStatus, pluralize, toSentence, toWebLink } from './wording.ts'

type MonitorEvent = Extract<EventName, `monitor.${string}`>
type Headline = Pick<NoticeContent, 'tone' | 'badge' | 'title' | 'text'>

/** Converts an event about a monitor to a notice. */
export function toMonitorNotice(envelope: Envelope<MonitorEvent>, context: RenderContext): NoticeContent {
  const { event, data, delivered_at: at } = envelope
  const { incident } = data
  const isOutage = event === 'monitor.down' || event === 'monitor.degraded'
  const mayAcknowledge = isOutage && incident !== null && isOpenStatus(incident.status)
  return {
    ...HEADLINES[event](data, context),
    facts: buildFacts(event, data, context),
    open: toWebLink('Open in Picket', data.dashboard_url),
    acknowledge: mayAcknowledge
      ? { url: buildAcknowledgeUrl(context.publicUrl, incident.id), incidentId: incident.id }
      : null,
    topic: incident && !EXPIRY_EVENTS.includes(event) ? `incident:${incident.id}` : `monitor:${data.monitor.id}`,
    at,
  }
}

const EXPIRY_EVENTS: string[] = ['monitor.ssl_expiry', 'monitor.domain_expiry']

const HEADLINES: Record<MonitorEvent, (data: MonitorEventData, context: RenderContext) => Headline> = {
  'monitor.down': ({ monitor, check }, { reminder }) => ({
    tone: 'down',
    badge: 'Down',
    title: `${monitor.name} is ${reminder ? 'still ' : ''}down`,
    text: toSentence(check.error),
  }),
  'monitor.degraded': ({ monitor, check }) => ({
    tone: 'degraded',
    badge: 'Degraded',
    title: `${monitor.name} is degraded`,
    text: toSentence(check.error),
  }),
  'monitor.up': ({ monitor, down_duration: downFor }) => ({
    tone: 'up',
    badge: 'Up',
    title: `${monitor.name} is up again`,
    text: downFor === null ? null : `It was down for ${downFor}.`,
  }),
  'monitor.ssl_expiry': ({ monitor, ssl_expiry_days: days }) =>
    buildExpiryHeadline(`The certificate of ${monitor.name}`, days ?? 0),
  'monitor.domain_expiry': ({ monitor, domain_expiry_days: days }) =>
    buildExpiryHeadline(`The domain of ${monitor.name}`, days ?? 0),
  'monitor.unchecked': ({ monitor, check }) => ({
    tone: 'degraded',
    badge: 'Not checked',
    title: `${monitor.name} is not checked`,
    text: `Its status is unknown: ${check.error}.`,
  }),
}

/** Started days count in full: 1 is less than a day from now, 0 has passed. */
function buildExpiryHeadline(what: string, days: number): Headline {
  const tone: Tone = days <= 1 ? 'down' : 'degraded'
  if (days <= 0) return { tone, badge: 'Expired', title: `${what} has expired`, text: null }
  const when = days === 1 ? 'within a day' : `in ${days} days`
  return { tone, badge: 'Expires soon', title: `${what} expires ${when}`, text: null }
}

function buildFacts(event: MonitorEvent, { monitor, check }: MonitorEventData, { reminder }: RenderContext): Fact[] {
  const failing = check.regions ?? []
  const isFailing = event === 'monitor.down' || event === 'monitor.degraded'
  return [
    ...(reminder ? [{ label: 'Down for', value: reminder.downFor }] : []),
    ...(isFailing && failing.length > 0
      ? [{ label: pluralize(failing.length, 'Region'), value: formatList(failing) }]
      : []),
    ...(isFailing && check.status_code > 0 ? [{ label: 'Response', value: formatResponse(check) }] : []),
    ...(monitor.url === null ? [] : [{ label: 'Address', value: monitor.url }]),
    ...(reminder ? [{ label: 'Reminder', value: String(reminder.number) }] : []),
  ]
}

const formatResponse = ({ status_code: status, response_time_ms: ms }: MonitorEventData['check']) =>
  `${status} in ${ms} ms`
