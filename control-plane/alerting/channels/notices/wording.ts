/** "us-east, eu-west" and, past twelve, "… and 5 more". */
export function formatList(names: string[]): string {
  const MOST = 12
  const more = names.length - MOST
  return more > 0 ? `${names.slice(0, MOST).join(', ')} and ${more} more` : names.join(', ')
}

/** "Region" or "Regions". */
export const pluralize = (count: number, noun: string): string => (count === 1 ? noun : `${noun}s`)

/** `under_maintenance` as people write it: "Under maintenance". */
export function formatState(state: string): string {
  const text = state.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** An error's text with a capital where it begins with a plain word; null when there is none. */
export function toSentence(text: string): string | null {
  if (text === '') return null
  return /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

/** False for an incident that has ended. */
export const isOpenStatus = (status: string): boolean => status !== 'resolved'

/** The page on which somebody signed in acknowledges an incident. */
export const buildAcknowledgeUrl = (publicUrl: string, incidentId: string): string =>
  `${publicUrl}/incidents/${incidentId}#acknowledge`

/** A link that a person may follow: http(s) only, and no longer than any channel takes. Null for anything else. */
export function toWebLink(label: string, url: string): { label: string; url: string } | null {
  if (!/^https?:\/\/[^/\\]/i.test(url) || !URL.canParse(url)) return null
  const { href } = new URL(url)
  return href.length <= 2_000 ? { label, url: href } : null
}

/** "21 Nov 2026, 10:04 UTC". */
export function formatDateTime(at: string): string {
  const [day = '', time = ''] = new Date(at).toISOString().split('T')
  const [year, month, date] = day.split('-')
  return `${Number(date)} ${MONTHS[Number(month) - 1]} ${year}, ${time.slice(0, 5)} UTC`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Words with which chats call everybody lose that power; they look the same. */
export const disarmMentions = (text: string): string =>
  text.replace(/@(?=(everyone|here|channel|group|all)\b)/gi, '@\u200b')

/** At most `limit` UTF-16 units, with an ellipsis where something is missing; never half a character. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 2)) ? limit - 2 : limit - 1
  return `${text.slice(0, Math.max(0, end)).trimEnd()}…`
}

/** As much of a text as fits into `limit` once it is escaped: an escape is never cut in half. */
export function truncateEscaped(text: string, limit: number, escaping: (text: string) => string): string {
  let length = Math.min(text.length, limit)
  for (;;) {
    const escaped = escaping(truncate(text, length))
    if (escaped.length <= limit || length <= 1) return escaped
    length = Math.max(1, Math.min(length - 1, Math.floor((length * limit) / escaped.length)))
  }
}
