import { isIP } from 'node:net'

/** Longer texts are rejected without parsing, because anyone can send them as `Host`. */
const MAX_TEXT_LENGTH = 1_024

/**
 * Normalizes a host: every spelling of an IPv4 address (`0177.0.0.1`, `127.1`, full-width digits) becomes its usual form,
 * names become lower case and punycode, brackets and a final dot are removed. Null when the text is not a host.
 */
export function normalizeHost(host: string): string | null {
  if (host.length > MAX_TEXT_LENGTH) return null
  if (isIP(host)) return host.includes('%') ? null : host.toLowerCase()
  // A URL parser would read a colon outside brackets as the start of a port.
  if (/[\s/?#@\\]/.test(host) || (host.includes(':') && !/^\[.*\]$/.test(host))) return null
  if (!URL.canParse(`http://${host}/`)) return null
  const name = stripHost(new URL(`http://${host}/`).hostname)
  return isIP(name) || isName(name) ? name : null
}

/** Letters, digits, hyphens and underscores only. */
function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9_][a-z0-9_-]{0,62}(\.[a-z0-9_][a-z0-9_-]{0,62})*$/.test(text)
}

/** The host of a parsed URL without brackets and final dot. */
export function stripHost(hostname: string): string {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}
