import { createHash } from 'node:crypto'
import type { EventName, VendorEventData } from '../events/catalog.ts'
import type { Envelope } from '../events/envelope.ts'
import type { Notice } from './notice.ts'
import { inWords, webLink } from './wording.ts'

type VendorEvent = Extract<EventName, `vendor.${string}`>
type Head = Pick<Notice, 'tone' | 'badge' | 'title'>

/** What an event about a third party says. */
export function vendorNotice({ event, data, delivered_at: at }: Envelope<VendorEvent>): Notice {
  const { vendor, incident } = data
  return {
    ...HEADS[event](vendor.name),
    text: incident.title || null,
    facts: [
      { label: 'Status', value: inWords(incident.status) },
      { label: 'Severity', value: inWords(incident.severity) },
      { label: 'Category', value: inWords(vendor.category) },
    ].filter(({ value }) => value !== ''),
    open: webLink('Open their status page', incident.source_url),
    acknowledge: null,
    topic: topicOf(data),
    at,
  }
}

const HEADS: Record<VendorEvent, (name: string) => Head> = {
  'vendor.down': name => ({ tone: 'down', badge: 'Vendor down', title: `${name} reports an outage` }),
  'vendor.degraded': name => ({ tone: 'degraded', badge: 'Vendor degraded', title: `${name} is degraded` }),
  'vendor.resolved': name => ({ tone: 'up', badge: 'Vendor recovered', title: `${name} has recovered` }),
}

/** A vendor's incident has no id of ours; its page and title make one. */
function topicOf({ vendor, incident }: VendorEventData): string {
  const hash = createHash('sha256').update(JSON.stringify([vendor.name, incident.source_url, incident.title]))
  return `vendor:${hash.digest('hex').slice(0, 24)}`
}
