/** Events with invented data, for previews of messages. Nothing of it is stored or sent. Pure. */
import type { Digest } from '../../../../alerting/channels/types.ts'
import {
  EVENT_NAMES,
  type EventName,
  type IncidentEventData,
  type MonitorEventData,
  type VendorEventData,
} from '../../../../alerting/events/catalog.ts'
import { DIGEST_EVENT } from '../../../../alerting/events/digest.ts'
import { buildEnvelope, type Envelope } from '../../../../alerting/events/envelope.ts'

/** What a preview can show: the events, a reminder of an outage, and many changes in one message. */
export const PREVIEWS = [...EVENT_NAMES, 'reminder', DIGEST_EVENT] as const
export type PreviewName = (typeof PREVIEWS)[number]

const DELIVERY_ID = 'whd_01900000000070008000000000000001'
const ID = '01900000-0000-7000-8000-000000000001'
const MINUTE_MS = 60_000

/** The envelope of an event, as a webhook receives it. `origin`: of links, without a slash at the end. */
export function buildSampleEnvelope(name: EventName, origin: string, nowMs: number): Envelope {
  const data = name.startsWith('monitor.')
    ? buildMonitorData(name, origin, nowMs)
    : name.startsWith('incident.')
      ? buildIncidentData(name, origin, nowMs)
      : buildVendorData(name)
  return buildEnvelope({ name, data: data as never }, DELIVERY_ID, new Date(nowMs))
}

/** Twelve monitors that changed within a minute. */
export function buildSampleDigest(origin: string, nowMs: number): Digest {
  const at = (seconds: number) => new Date(nowMs - MINUTE_MS + seconds * 1_000).toISOString()
  const names = ['Shop', 'Checkout', 'Search', 'Login', 'Blog', 'Images', 'Mail', 'API', 'Docs', 'Admin', 'Jobs', 'CDN']
  return {
    deliveryId: DELIVERY_ID,
    projectName: 'Example',
    from: at(0),
    to: at(names.length * 2),
    changes: names.map((name, i) => ({
      ...{ name, status: i % 5 === 3 ? 'degraded' : 'down', at: at(i * 2), url: `${origin}/monitors/${ID}` },
      ...(i === 4 && { status: 'up', words: 'down, then up' }),
    })),
    dashboardUrl: `${origin}/monitors`,
  }
}

function buildMonitorData(name: EventName, origin: string, nowMs: number): MonitorEventData {
  const isUp = name === 'monitor.up'
  const isFailing = name === 'monitor.down' || name === 'monitor.degraded'
  const errors: Partial<Record<EventName, string>> = {
    'monitor.down': 'connection refused',
    'monitor.degraded': 'the response took 2.4 s, which is not less than 2 s',
    'monitor.unchecked': 'no region has a probe that works',
  }
  const startedAt = new Date(nowMs - 252_000).toISOString()
  return {
    monitor: { id: ID, name: 'Shop', url: 'https://shop.example.com/', type: 'http', status: isUp ? 'up' : 'down' },
    check: {
      ...{ region: 'eu-west', regions: isFailing ? ['eu-west', 'us-east'] : null, response_time_ms: 212.4 },
      ...{ status_code: isUp ? 200 : 0, error: errors[name] ?? '' },
    },
    ssl_expiry_days: name === 'monitor.ssl_expiry' ? 7 : null,
    domain_expiry_days: name === 'monitor.domain_expiry' ? 14 : null,
    down_duration: isUp ? '4 minutes 12 seconds' : null,
    incident:
      isUp || isFailing
        ? {
            ...{ id: ID, title: 'Shop is down', severity: 'major', started_at: startedAt },
            status: isUp ? 'resolved' : 'investigating',
          }
        : null,
    dashboard_url: `${origin}/monitors/${ID}`,
  }
}

function buildIncidentData(name: EventName, origin: string, nowMs: number): IncidentEventData {
  const at = (minutes: number) => new Date(nowMs - minutes * MINUTE_MS).toISOString()
  const steps: Partial<Record<EventName, { status: string; message: string }>> = {
    'incident.created': { status: 'investigating', message: 'Some payments fail. We are looking into it.' },
    'incident.updated': { status: 'identified', message: 'A deployment broke the payments. We are undoing it.' },
    'incident.resolved': { status: 'resolved', message: 'Payments work again.' },
  }
  const step = steps[name] ?? null
  const isOver = name === 'incident.resolved'
  const isSeen = name !== 'incident.created'
  return {
    incident: {
      ...{ id: ID, title: 'Checkout is slow', status: step?.status ?? 'investigating', severity: 'major' },
      ...{ started_at: at(38), resolved_at: isOver ? at(0) : null },
      ...{ acknowledged_at: isSeen ? at(36) : null, acknowledged_by: isSeen ? ID : null },
    },
    update: step && { id: ID, ...step, is_internal: false, author_id: ID, created_at: at(0) },
    monitors: [{ id: ID, name: 'Checkout', status: isOver ? 'up' : 'degraded' }],
    dashboard_url: `${origin}/incidents/${ID}`,
    status_page_url: `${origin}/status/example`,
  }
}

const buildVendorData = (name: EventName): VendorEventData => ({
  vendor: { name: 'Example Cloud', category: 'cloud' },
  incident: {
    title: 'Elevated error rates in the region eu-west',
    severity: name === 'vendor.degraded' ? 'minor' : 'major',
    status: name === 'vendor.resolved' ? 'resolved' : 'investigating',
    source_url: 'https://status.example.com/incidents/1',
  },
})
