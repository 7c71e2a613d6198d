import { stripInvisible, toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { RenderContext } from '../types.ts'
import { toIncidentNotice } from './incident-notice.ts'
import { toMonitorNotice } from './monitor-notice.ts'
import type { NoticeContent } from './notice-content.ts'
import { toVendorNotice } from './vendor-notice.ts'
import { truncate } from './wording.ts'

/** What a channel is to say of an event. */
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

/** Nobody reads more of it, whatever a channel would take. */
const MAX_LENGTHS = { title: 300, text: 10_000, value: 2_100 }

function buildNotice(envelope: Envelope, context: RenderContext): NoticeContent {
  if (isAbout(envelope, 'monitor')) return toMonitorNotice(envelope, context)
  if (isAbout(envelope, 'incident')) return toIncidentNotice(envelope, context)
  return toVendorNotice(envelope as Envelope<`vendor.${VendorState}`>)
}

type VendorState = 'down' | 'degraded' | 'resolved'
type RoomEvent<Room extends string> = Extract<Envelope['event'], `${Room}.${string}`>

function isAbout<Room extends string>(envelope: Envelope, room: Room): envelope is Envelope<RoomEvent<Room>> {
  return envelope.event.startsWith(`${room}.`)
}
