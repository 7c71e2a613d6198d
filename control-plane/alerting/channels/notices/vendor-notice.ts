import { createHash } from 'node:crypto'
import type { EventName, VendorEventData } from '../../events/catalog.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { NoticeContent } from './notice-content.ts'
import { formatState, toWebLink } from './wording.ts'

type VendorEvent = Extract<EventName, `vendor.${string}`>
type Headline = Pick<NoticeContent, 'tone' | 'badge' | 'title'>

/** Converts an event about a vendor to a notice. */
export function toVendorNotice({ event, data, delivered_at: at }: Envelope<VendorEvent>): NoticeContent {
  const { vendor, incident } = data
  return {
    ...HEADLINES[event](vendor.name),
    text: incident.title || null,
    facts: [
      { label: 'Status', value: formatState(incident.status) },
      { label: 'Severity', value: formatState(incident.severity) },
      { label: 'Category', value: formatState(vendor.category) },
    ].filter(({ value }) => value !== ''),
    open: toWebLink('Open their status page', incident.source_url),
    acknowledge: null,
    topic: buildTopic(data),
    at,
  }
}

const HEADLINES: Record<VendorEvent, (name: string) => Headline> = {
  'vendor.down': name => ({ tone: 'down', badge: 'Vendor down', title: `${name} reports an outage` }),
  'vendor.degraded': name => ({ tone: 'degraded', badge: 'Vendor degraded', title: `${name} is degraded` }),
  'vendor.resolved': name => ({ tone: 'up', badge: 'Vendor recovered', title: `${name} has recovered` }),
}

/** Derives a topic from the vendor's name, page and title, because a vendor's incident has no id here. */
function buildTopic({ vendor, incident }: VendorEventData): string {
  const hash = createHash('sha256').update(JSON.stringify([vendor.name, incident.source_url, incident.title]))
  return `vendor:${hash.digest('hex').slice(0, 24)}`
}
