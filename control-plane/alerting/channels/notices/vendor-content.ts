import type { EventName } from '../../events/catalog.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { NoticeContent } from './notice-content.ts'
import { formatState, toWebLink } from './wording.ts'

export type VendorEvent = Extract<EventName, `vendor.${string}`>
type Headline = Pick<NoticeContent, 'tone' | 'badge' | 'title'>

/** What a notice about a vendor shows: everything but its topic. Runs in browsers, for previews. */
export const toVendorContent = ({
  event,
  data,
  delivered_at: at,
}: Envelope<VendorEvent>): Omit<NoticeContent, 'topic'> => {
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
    at,
  }
}

const HEADLINES: Record<VendorEvent, (name: string) => Headline> = {
  'vendor.down': name => ({ tone: 'down', badge: 'Vendor down', title: `${name} reports an outage` }),
  'vendor.degraded': name => ({ tone: 'degraded', badge: 'Vendor degraded', title: `${name} is degraded` }),
  'vendor.resolved': name => ({ tone: 'up', badge: 'Vendor recovered', title: `${name} has recovered` }),
}
