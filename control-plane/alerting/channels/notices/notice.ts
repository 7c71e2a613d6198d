import { stripInvisible, toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import type { Envelope } from '../../events/envelope.ts'
import type { RenderContext } from '../types.ts'
import { toIncidentNotice } from './incident-notice.ts'
import { toMonitorNotice } from './monitor-notice.ts'
import { toVendorNotice } from './vendor-notice.ts'
import { truncate } from './wording.ts'

/** The severity of a notice, which channels show as a colour. */
export type Tone = 'down' | 'degraded' | 'up' | 'neutral'

/** A label with a value. Values contain text from users and targets: every channel escapes them. */
export type Fact = { label: string; value: string }

/** The sender of an email, and the link that ends the subscription; null without one. */
export type MailFooter = { by: string; link: { label: string; url: string } | null }

/** An event as text for people, independent of the channel. All texts are plain and unescaped. */
export type NoticeContent = {
  tone: Tone
  /** the state: "Down", "Resolved" */
  badge: string
  /** "Shop is down" */
  title: string
  /** an error, or text from a person; may contain line breaks */
  text: string | null
  facts: Fact[]
  /** the page to open next; null if the event names none */
  open: { label: string; url: string } | null
  /** null unless an incident can be acknowledged */
  acknowledge: { url: string; incidentId: string } | null
  /** the subject, for example `incident:<id>`; emails with the same topic form one conversation */
  topic: string
  /** ISO 8601 UTC */
  at: string
}

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
