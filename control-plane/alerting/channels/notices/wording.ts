const MAX_NAMES = 12

/** Joins names: "us-east, eu-west". Above twelve: "… and 5 more". */
export function formatList(names: string[]): string {
  const more = names.length - MAX_NAMES
  return more > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${more} more` : names.join(', ')
}

/** "Region" or "Regions". */
export const pluralize = (count: number, noun: string): string => (count === 1 ? noun : `${noun}s`)

/** Formats a state: `under_maintenance` as "Under maintenance". */
export function formatState(state: string): string {
  const text = state.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Capitalizes the first letter of an error that begins with a plain word. Returns null for an empty text. */
export function toSentence(text: string): string | null {
  if (text === '') return null
  return /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

/** Whether an incident with this status is open. */
export const isOpenStatus = (status: string): boolean => status !== 'resolved'

/** The page on which a signed-in user acknowledges an incident. */
export const buildAcknowledgeUrl = (publicUrl: string, incidentId: string): string =>
  `${publicUrl}/incidents/${incidentId}#acknowledge`

/** Returns a link with http(s) and a length that every channel accepts. Null for other URLs. */
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

/** Disarms mentions of all members with an invisible character. */
export const disarmMentions = (text: string): string =>
  text.replace(/@(?=(everyone|here|channel|group|all)\b)/gi, '@\u200b')

/** Cuts a text to `limit` UTF-16 units, with an ellipsis. Never splits a character. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 2)) ? limit - 2 : limit - 1
  return `${text.slice(0, Math.max(0, end)).trimEnd()}…`
}

/** Cuts a text so that it fits into `limit` when it is escaped. Never splits an escape. */
export function truncateEscaped(text: string, limit: number, escapeText: (text: string) => string): string {
  let length = Math.min(text.length, limit)
  for (;;) {
    const escaped = escapeText(truncate(text, length))
    if (escaped.length <= limit || length <= 1) return escaped
    length = Math.max(1, Math.min(length - 1, Math.floor((length * limit) / escaped.length)))
  }
}
