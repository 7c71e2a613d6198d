import type { PageMessage } from '../../control-plane/alerting/channels/subscribers/subscriber-types.ts'
import {
  type PageChange,
  type PageIncidentChange,
  toPublicChange,
} from '../../control-plane/alerting/events/page-event.ts'
import { SAMPLES } from './channel-events.ts'

const page = { id: '0190a0a0-0000-7000-8000-0000000000a1', name: 'Acme', url: 'https://status.acme.example.com' }
const components = [
  { id: '0190a0a0-0000-7000-8000-0000000000c1', name: 'Shop' },
  { id: '0190a0a0-0000-7000-8000-0000000000c2', name: 'Checkout' },
]
const sent = { deliveryId: 'whd_0190a0a0000070008000000000000001', at: '2026-08-01T12:00:01.000Z' }

export const SUBSCRIBER = '0190a0a0-0000-7000-8000-0000000000e1'
export const SUBSCRIBER_CONFIGS = {
  page_mail: { to: 'ann@example.com', key: 'a key of links' },
  page_webhook: { url: 'https://hooks.example.com/acme?token=1', key: 'a key of links' },
}

function change(name: PageIncidentChange['event']): PageIncidentChange {
  return toPublicChange({ name, occurredAt: new Date('2026-08-01T12:00:00Z'), data: SAMPLES[name] }, components)!
}
const changes = (['incident.created', 'incident.updated', 'incident.resolved'] as const).map(change)
const previous = { starts_at: '2026-08-02T01:00:00.000Z', ends_at: '2026-08-02T03:30:00.000Z' }
const maintenance = (['announced', 'changed', 'begun', 'ended', 'cancelled'] as const).map(
  (stage): PageChange => ({
    event: `maintenance.${stage}`,
    at: '2026-08-01T12:00:00.000Z',
    maintenance: {
      id: '0190a0a0-0000-7000-8000-0000000000f1',
      period_id: '0190a0a0-0000-7000-8000-0000000000f1-1785636000',
      title: 'New database',
      description: 'It is read-only meanwhile.',
      starts_at: '2026-08-02T02:00:00.000Z',
      ends_at: '2026-08-02T04:00:00.000Z',
    },
    ...(stage === 'changed' && { previous }),
    components,
  }),
)
const notice = (changes: PageChange[]): PageMessage => ({ ...sent, name: 'page.notice', data: { page, changes } })
const confirmation = (isKnown: boolean): PageMessage => ({
  ...sent,
  name: 'page.confirmation',
  data: { page, isKnown, expires_at: '2026-08-02T12:00:00.000Z' },
})

const SEVERAL_IDS = ['d1', 'd2', 'd3'].map(end => `0190a0a0-0000-7000-8000-0000000000${end}`)

/** All messages to a subscriber, by name. */
export const PAGE_MESSAGES: Record<string, PageMessage> = {
  ...Object.fromEntries(changes.map(one => [one.event, notice([one])])),
  ...Object.fromEntries(maintenance.map(one => [one.event, notice([one])])),
  several: notice(changes.map((one, i) => ({ ...one, incident: { ...one.incident, id: SEVERAL_IDS[i]! } }))),
  confirmation: confirmation(false),
  known: confirmation(true),
}

/** The same with `text` in every field of users. */
export function hostilePageMessages(text: string): PageMessage[] {
  const hostile = (one: PageChange): PageChange => {
    const components = one.components.map(component => ({ ...component, name: text }))
    return 'incident' in one
      ? {
          ...one,
          components,
          incident: { ...one.incident, title: text },
          update: one.update && { ...one.update, message: text },
        }
      : { ...one, components, maintenance: { ...one.maintenance, title: text, description: text } }
  }
  const named = { ...page, name: text }
  return Object.values(PAGE_MESSAGES).map(message =>
    message.name === 'page.notice'
      ? { ...message, data: { page: named, changes: message.data.changes.map(hostile) } }
      : { ...message, data: { ...message.data, page: named } },
  )
}
