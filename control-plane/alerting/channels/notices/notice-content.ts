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
