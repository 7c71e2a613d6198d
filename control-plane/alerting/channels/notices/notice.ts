import { stripInvisible, toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { RenderContext } from '../types.ts'
import { toIncidentNotice } from './incident-notice.ts'
import { toMonitorNotice } from './monitor-notice.ts'
import type { NoticeContent } from './notice-content.ts'
import { toVendorNotice } from './vendor-notice.ts'
import { truncate } from './wording.ts'

/** Converts an event to a notice, with limits of length. */
export function toNotice(envelope: Envelope, context: RenderContext): NoticeContent {
  const notice = buildNotice(envelope, context)
  return {
    ...notice,
    title: truncate(toOneLine(notice.title), MAX_LENGTHS.title),
    text: truncate(stripInvisible(notice.text ?? '').trim(), MAX_LENGTHS.text) || null,
    facts: notice.facts
      .map(({ label, value }) => ({ label, value: truncate(toOneLine(value), MAX_LENGTHS.value) }))
      .filter(fact => fact.value !== ''),
  }
}

/** Maximum lengths, independent of the channel. */
const MAX_LENGTHS = { title: 300, text: 10_000, value: 2_100 }

function buildNotice(envelope: Envelope, context: RenderContext): NoticeContent {
  if (isAbout(envelope, 'monitor')) return toMonitorNotice(envelope, context)
  if (isAbout(envelope, 'incident')) return toIncidentNotice(envelope, context)
  return toVendorNotice(envelope as Envelope<`vendor.${VendorState}`>)
}

type VendorState = 'down' | 'degraded' | 'resolved'
type FamilyEvent<Family extends string> = Extract<Envelope['event'], `${Family}.${string}`>

function isAbout<Family extends string>(envelope: Envelope, family: Family): envelope is Envelope<FamilyEvent<Family>> {
  return envelope.event.startsWith(`${family}.`)
}
