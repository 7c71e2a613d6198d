import { isIP } from 'node:net'

/** Of a name in any spelling; a longer text costs nothing, since anyone can send it as `Host`. */
const MAX_TEXT_LENGTH = 1_024

/**
 * The host as a socket would take it: every spelling of an IPv4 address in its usual form (`0177.0.0.1`, `127.1`,
 * full-width digits), names in lower case and punycode, no brackets, no dot at the end. Null when it is no host at all.
 */
export function normalizeHost(host: string): string | null {
  if (host.length > MAX_TEXT_LENGTH) return null
  if (isIP(host)) return host.includes('%') ? null : host.toLowerCase()
  // A colon belongs to an IPv6 address only, which a URL has in brackets; a URL would read it as the start of a port.
  if (/[\s/?#@\\]/.test(host) || (host.includes(':') && !/^\[.*\]$/.test(host))) return null
  if (!URL.canParse(`http://${host}/`)) return null
  const name = stripHost(new URL(`http://${host}/`).hostname)
  return isIP(name) || isName(name) ? name : null
}

/** Letters, digits, hyphens and underscores, as names that are in use have them; nothing that a program could run. */
function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9_][a-z0-9_-]{0,62}(\.[a-z0-9_][a-z0-9_-]{0,62})*$/.test(text)
}

/** The host of a parsed URL without brackets and without the dot at its end. */
export function stripHost(hostname: string): string {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}
