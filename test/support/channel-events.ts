import { EVENT_NAMES, type EventData, type EventName } from '../../control-plane/alerting/events/catalog.ts'
import { buildEnvelope, type Envelope } from '../../control-plane/alerting/events/envelope.ts'

const PICKET = 'https://picket.example.com'
const MONITOR = '0190a0a0-0000-7000-8000-00000000000a'
const INCIDENT = '0190a0a0-0000-7000-8000-00000000000b'

export const CONTEXT = { publicUrl: PICKET, reminder: null }
export const CONFIGS: Record<string, Record<string, unknown>> = {
  webhook: { url: 'https://hooks.example.com/picket' },
  email: { to: ['ops@example.com', 'on-call@example.com'] },
  chat_a: { webhook_url: 'https://chat-a.example.com/services/T0/B0/secret' },
  chat_b: { webhook_url: 'https://chat-b.example.com/api/webhooks/1/secret' },
  chat_c: { webhook_url: 'https://chat-c.example.com/workflows/secret' },
}

const incident = {
  id: INCIDENT,
  title: 'Shop is down',
  status: 'investigating',
  severity: 'major',
  started_at: '2026-08-01T11:58:30.000Z',
}
const monitor = { id: MONITOR, name: 'Shop', url: 'https://shop.example.com/health', type: 'http' }
const ofMonitor = { ssl_expiry_days: null, domain_expiry_days: null, down_duration: null, incident: null }
const check = { region: 'us-east', regions: ['us-east', 'eu-west'], status_code: 503, response_time_ms: 123 }
const dashboard = `${PICKET}/monitors/${MONITOR}`
const healthy = { ...check, regions: [], status_code: 200, error: '' }

const whole = { ...incident, resolved_at: null, acknowledged_at: null, acknowledged_by: null }
const update = {
  id: '0190a0a0-0000-7000-8000-00000000000c',
  status: 'identified',
  message: 'The database of the checkout ran out of connections.\nWe are adding some.',
  is_internal: false,
  author_id: '0190a0a0-0000-7000-8000-00000000000d',
  created_at: '2026-08-01T12:00:00.000Z',
}
const ofIncident = {
  update: null,
  monitors: [
    { id: MONITOR, name: 'Shop', status: 'down' },
    { id: MONITOR, name: 'Checkout', status: 'degraded' },
  ],
  dashboard_url: `${PICKET}/incidents/${INCIDENT}`,
  status_page_url: `${PICKET}/status/acme`,
}
const vendor = { name: 'Mailer Inc.', category: 'email' }
const outage = { title: 'Delays in sending', severity: 'major', status: 'investigating' }
const source_url = 'https://status.mailer.example.com/incidents/1'

/** One typical event of each name. */
export const SAMPLES: { [Name in EventName]: EventData<Name> } = {
  'monitor.down': {
    monitor: { ...monitor, status: 'down' },
    check: { ...check, error: 'the status is 503, expected 200-399' },
    ...ofMonitor,
    incident,
    dashboard_url: dashboard,
  },
  'monitor.up': {
    monitor: { ...monitor, status: 'up' },
    check: healthy,
    ...ofMonitor,
    down_duration: '4 minutes 12 seconds',
    incident: { ...incident, status: 'resolved' },
    dashboard_url: dashboard,
  },
  'monitor.degraded': {
    monitor: { ...monitor, status: 'degraded' },
    check: { ...check, status_code: 200, response_time_ms: 4_210, error: 'response_time 4210 is not less_than 2000' },
    ...ofMonitor,
    dashboard_url: dashboard,
  },
  'monitor.ssl_expiry': {
    monitor: { ...monitor, status: 'up' },
    check: healthy,
    ...ofMonitor,
    ssl_expiry_days: 7,
    dashboard_url: dashboard,
  },
  'monitor.domain_expiry': {
    monitor: { ...monitor, status: 'up' },
    check: healthy,
    ...ofMonitor,
    domain_expiry_days: 1,
    dashboard_url: dashboard,
  },
  'monitor.unchecked': {
    monitor: { ...monitor, status: null },
    check: {
      region: 'us-east',
      regions: [],
      status_code: 0,
      response_time_ms: 0,
      error: 'no check has counted since 2026-08-01T11:56:00.000Z',
    },
    ...ofMonitor,
    dashboard_url: dashboard,
  },
  'incident.created': { incident: whole, ...ofIncident },
  'incident.updated': { incident: { ...whole, status: 'identified' }, ...ofIncident, update },
  'incident.acknowledged': {
    incident: { ...whole, acknowledged_at: '2026-08-01T12:00:00.000Z', acknowledged_by: update.author_id },
    ...ofIncident,
  },
  'incident.resolved': {
    incident: { ...whole, status: 'resolved', resolved_at: '2026-08-01T12:21:00.000Z' },
    ...ofIncident,
    update: { ...update, status: 'resolved', message: 'The shop takes orders again.' },
  },
  'vendor.down': { vendor, incident: { ...outage, source_url } },
  'vendor.degraded': { vendor, incident: { ...outage, severity: 'minor', source_url } },
  'vendor.resolved': { vendor, incident: { ...outage, status: 'resolved', source_url } },
}

export function sampleEnvelope(name: EventName): Envelope {
  return buildEnvelope(
    { name, data: SAMPLES[name] },
    'whd_0190a0a0000070008000000000000001',
    new Date('2026-08-01T12:00:00Z'),
  )
}

/** The same events with `text` in every field that contains text of users or third parties. */
export function hostileEnvelope(name: EventName, text: string): Envelope {
  const keep =
    /^(id|status|severity|started_at|resolved_at|acknowledged_at|created_at|dashboard_url|type|down_duration)$/
  const replaced = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return keep.test(key) ? value : text
    if (Array.isArray(value)) return value.map(item => replaced(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaced(inner, name)]))
  }
  return { ...sampleEnvelope(name), data: replaced(SAMPLES[name]) as Envelope['data'] }
}

export const ALL_EVENTS = EVENT_NAMES

export const DIGEST = {
  deliveryId: 'whd_0190a0a0000070008000000000000002',
  projectName: 'Acme',
  from: '2026-08-01T12:00:00.000Z',
  to: '2026-08-01T12:01:00.000Z',
  changes: ['up', 'down', 'degraded', 'down', 'resolved'].map((status, i) => ({
    name: `Service ${i + 1}`,
    status,
    at: `2026-08-01T12:00:0${i}.000Z`,
    url: `${PICKET}/monitors/${i + 1}`,
  })),
  dashboardUrl: `${PICKET}/`,
}
