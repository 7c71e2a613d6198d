import { stripInvisible, toOneLine } from '../../../foundation/web/validation/visible-text.ts'
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

/** Limits the length of the texts of a notice, independent of the channel, and removes invisible characters. */
export const limitNotice = (notice: NoticeContent): NoticeContent => ({
  ...notice,
  title: truncate(toOneLine(notice.title), MAX_LENGTHS.title),
  text: truncate(stripInvisible(notice.text ?? '').trim(), MAX_LENGTHS.text) || null,
  facts: notice.facts
    .map(({ label, value }) => ({ label, value: truncate(toOneLine(value), MAX_LENGTHS.value) }))
    .filter(fact => fact.value !== ''),
})

const MAX_LENGTHS = { title: 300, text: 10_000, value: 2_100 }
