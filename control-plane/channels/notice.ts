import type { Envelope } from '../events/envelope.ts'
import { oneLine, visible } from '../web/visible.ts'
import { incidentNotice } from './incident-notice.ts'
import { monitorNotice } from './monitor-notice.ts'
import type { RenderContext } from './types.ts'
import { vendorNotice } from './vendor-notice.ts'
import { cut } from './wording.ts'

/** How bad it is, which is what a channel shows as a colour. */
export type Tone = 'down' | 'degraded' | 'up' | 'neutral'

/** Something about it in two words and a value. Values are users' and receivers' texts: every channel escapes them. */
export type Fact = { label: string; value: string }

/** Who sends a mail, and where its reader ends that; null where there is nothing to end. */
export type MailFooter = { by: string; link: { label: string; url: string } | null }

/** What an event says to a person, before a channel gives it its form. All texts are plain and unescaped. */
export type Notice = {
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
export function noticeOf(envelope: Envelope, context: RenderContext): Notice {
  const notice = rawNotice(envelope, context)
  return {
    ...notice,
    title: cut(oneLine(notice.title), LIMITS.title),
    text: cut(visible(notice.text ?? '').trim(), LIMITS.text) || null,
    facts: notice.facts
      .map(({ label, value }) => ({ label, value: cut(oneLine(value), LIMITS.value) }))
      .filter(fact => fact.value !== ''),
  }
}

/** Nobody reads more of it, whatever a channel would take. */
const LIMITS = { title: 300, text: 10_000, value: 2_100 }

function rawNotice(envelope: Envelope, context: RenderContext): Notice {
  if (isOf(envelope, 'monitor')) return monitorNotice(envelope, context)
  if (isOf(envelope, 'incident')) return incidentNotice(envelope, context)
  return vendorNotice(envelope as Envelope<`vendor.${VendorState}`>)
}

type VendorState = 'down' | 'degraded' | 'resolved'
type EventOf<Room extends string> = Extract<Envelope['event'], `${Room}.${string}`>

function isOf<Room extends string>(envelope: Envelope, room: Room): envelope is Envelope<EventOf<Room>> {
  return envelope.event.startsWith(`${room}.`)
}
