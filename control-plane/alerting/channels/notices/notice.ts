import { createHash } from 'node:crypto'
import type { VendorEventData } from '../../events/catalog.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { RenderContext } from '../types.ts'
import { toIncidentNotice } from './incident-notice.ts'
import { toMonitorNotice } from './monitor-notice.ts'
import { limitNotice, type NoticeContent } from './notice-content.ts'
import { toVendorContent, type VendorEvent } from './vendor-content.ts'

/** Converts an event to a notice, with limits of length. */
export const toNotice = (envelope: Envelope, context: RenderContext): NoticeContent =>
  limitNotice(buildNotice(envelope, context))

function buildNotice(envelope: Envelope, context: RenderContext): NoticeContent {
  if (isAbout(envelope, 'monitor')) return toMonitorNotice(envelope, context)
  if (isAbout(envelope, 'incident')) return toIncidentNotice(envelope, context)
  return toVendorNotice(envelope as Envelope<VendorEvent>)
}

const toVendorNotice = (envelope: Envelope<VendorEvent>): NoticeContent => ({
  ...toVendorContent(envelope),
  topic: buildVendorTopic(envelope.data),
})

/** Derives a topic from the vendor's name, page and title, because a vendor's incident has no id here. */
function buildVendorTopic({ vendor, incident }: VendorEventData): string {
  const hash = createHash('sha256').update(JSON.stringify([vendor.name, incident.source_url, incident.title]))
  return `vendor:${hash.digest('hex').slice(0, 24)}`
}

type FamilyEvent<Family extends string> = Extract<Envelope['event'], `${Family}.${string}`>

function isAbout<Family extends string>(envelope: Envelope, family: Family): envelope is Envelope<FamilyEvent<Family>> {
  return envelope.event.startsWith(`${family}.`)
}
