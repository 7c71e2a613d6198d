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
