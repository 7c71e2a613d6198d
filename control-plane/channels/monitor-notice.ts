import type { EventName, MonitorEventData } from '../events/catalog.ts'
import type { Envelope } from '../events/envelope.ts'
import type { Fact, Notice, Tone } from './notice.ts'
import type { RenderContext } from './types.ts'
import { acknowledgeUrl, isOpen, listed, sentence, titled, webLink } from './wording.ts'

type MonitorEvent = Extract<EventName, `monitor.${string}`>
type Head = Pick<Notice, 'tone' | 'badge' | 'title' | 'text'>

/** What an event about a monitor says. */
export function monitorNotice(envelope: Envelope<MonitorEvent>, context: RenderContext): Notice {
  const { event, data, delivered_at: at } = envelope
  const { incident } = data
  const isOutage = event === 'monitor.down' || event === 'monitor.degraded'
  const mayAcknowledge = isOutage && incident !== null && isOpen(incident.status)
  return {
    ...HEADS[event](data, context),
    facts: factsOf(event, data, context),
    open: webLink('Open in Picket', data.dashboard_url),
    acknowledge: mayAcknowledge
      ? { url: acknowledgeUrl(context.publicUrl, incident.id), incidentId: incident.id }
      : null,
    topic: incident && !EXPIRIES.includes(event) ? `incident:${incident.id}` : `monitor:${data.monitor.id}`,
    at,
  }
}

const EXPIRIES: string[] = ['monitor.ssl_expiry', 'monitor.domain_expiry']

const HEADS: Record<MonitorEvent, (data: MonitorEventData, context: RenderContext) => Head> = {
  'monitor.down': ({ monitor, check }, { reminder }) => ({
    tone: 'down',
    badge: 'Down',
    title: `${monitor.name} is ${reminder ? 'still ' : ''}down`,
    text: sentence(check.error),
  }),
  'monitor.degraded': ({ monitor, check }) => ({
    tone: 'degraded',
    badge: 'Degraded',
    title: `${monitor.name} is degraded`,
    text: sentence(check.error),
  }),
  'monitor.up': ({ monitor, down_duration: downFor }) => ({
    tone: 'up',
    badge: 'Up',
    title: `${monitor.name} is up again`,
    text: downFor === null ? null : `It was down for ${downFor}.`,
  }),
  'monitor.ssl_expiry': ({ monitor, ssl_expiry_days: days }) => expiry(`The certificate of ${monitor.name}`, days ?? 0),
  'monitor.domain_expiry': ({ monitor, domain_expiry_days: days }) =>
    expiry(`The domain of ${monitor.name}`, days ?? 0),
  'monitor.unchecked': ({ monitor, check }) => ({
    tone: 'degraded',
    badge: 'Not checked',
    title: `${monitor.name} is not checked`,
    text: `Its status is unknown: ${check.error}.`,
  }),
}

/** Begun days count in full, so 1 is less than a day from now, and 0 has passed. */
function expiry(what: string, days: number): Head {
  const tone: Tone = days <= 1 ? 'down' : 'degraded'
  if (days <= 0) return { tone, badge: 'Expired', title: `${what} has expired`, text: null }
  const when = days === 1 ? 'within a day' : `in ${days} days`
  return { tone, badge: 'Expires soon', title: `${what} expires ${when}`, text: null }
}

function factsOf(event: MonitorEvent, { monitor, check }: MonitorEventData, { reminder }: RenderContext): Fact[] {
  const failing = check.regions ?? []
  const isFailing = event === 'monitor.down' || event === 'monitor.degraded'
  return [
    ...(reminder ? [{ label: 'Down for', value: reminder.downFor }] : []),
    ...(isFailing && failing.length > 0 ? [{ label: titled(failing.length, 'Region'), value: listed(failing) }] : []),
    ...(isFailing && check.status_code > 0 ? [{ label: 'Response', value: answerOf(check) }] : []),
    ...(monitor.url === null ? [] : [{ label: 'Address', value: monitor.url }]),
    ...(reminder ? [{ label: 'Reminder', value: String(reminder.number) }] : []),
  ]
}

const answerOf = ({ status_code: status, response_time_ms: ms }: MonitorEventData['check']) => `${status} in ${ms} ms`
