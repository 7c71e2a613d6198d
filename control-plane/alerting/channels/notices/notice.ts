import { stripInvisible, toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { RenderContext } from '../types.ts'
import { toIncidentNotice } from './incident-notice.ts'
import { toMonitorNotice } from './monitor-notice.ts'
import { toVendorNotice } from './vendor-notice.ts'
import { truncate } from './wording.ts'

/** How bad it is, which is what a channel shows as a colour. */
export type Tone = 'down' | 'degraded' | 'up' | 'neutral'

/** Something about it in two words and a value. Values are users' and receivers' texts: every channel escapes them. */
export type Fact = { label: string; value: string }

/** Who sends a mail, and where its reader ends that; null where there is nothing to end. */
export type MailFooter = { by: string; link: { label: string; url: string } | null }

/** What an event says to a person, before a channel gives it its form. All texts are plain and unescaped. */
export type NoticeContent = {
  tone: Tone
  /** "Down", "Resolved": the state in a word */
  badge: string
  /** "Shop is down" */
  title: string
  /** an error, or what somebody wrote; may have lines */
  text: string | null
  facts: Fact[]
  /** where people look next; null where the event names no page */
  open: { label: string; url: string } | null
  /** null where nothing is to be acknowledged (any more) */
  acknowledge: { url: string; incidentId: string } | null
  /** what it is about, `incident:<id>` for instance: notices about one thing make one conversation */
  topic: string
  /** ISO 8601 UTC */
  at: string
}

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
