/** Cookies that were set on the way through redirects, by host and name. Never changed. */
export type CookieJar = ReadonlyMap<string, ReadonlyMap<string, Cookie>>

type Cookie = { value: string; isSecure: boolean }

export const NO_COOKIES: CookieJar = new Map()

/** A host has at most this many of them. */
const MAX_COOKIES = 50
/** Some servers send them, but they cannot be sent back. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are meant
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/
/** Name and value of a cookie, in characters. Browsers ignore longer ones. */
const MAX_LENGTH = 4_096

/**
 * The cookies after a response of `url` with these Set-Cookie headers. Each belongs to its host only: `Domain` and `Path` do
 * not matter for the few requests of one check. A cookie that is invalid, expired or beyond the limits is ignored.
 */
export function storeCookies(cookies: CookieJar, url: URL, setCookie: readonly string[], nowMs: number): CookieJar {
  if (setCookie.length === 0) return cookies
  const ofHost = new Map(cookies.get(url.hostname))
  for (const line of setCookie) {
    const [pair = '', ...attributes] = line.split(';')
    const [name, value] = splitOnce(pair)
    if (name === '' || pair.length > MAX_LENGTH || CONTROL_CHARACTER.test(pair)) continue
    const read = new Map(attributes.map(splitOnce).map(([key, text]) => [key.toLowerCase(), text]))
    if (isExpired(read, nowMs)) ofHost.delete(name)
    else if (ofHost.has(name) || ofHost.size < MAX_COOKIES) ofHost.set(name, { value, isSecure: read.has('secure') })
  }
  return new Map([...cookies, [url.hostname, ofHost]])
}

/** The value of the Cookie header of a request: those of the customer, and those of the host. Empty: no header. */
export function formatCookies(cookies: CookieJar, url: URL, given: string): string {
  const ofHost = [...(cookies.get(url.hostname) ?? [])].filter(
    ([, { isSecure }]) => !isSecure || url.protocol === 'https:',
  )
  const names = new Set(ofHost.map(([name]) => name))
  const kept = given
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair !== '' && !names.has(splitOnce(pair)[0]))
  return [...kept, ...ofHost.map(([name, { value }]) => `${name}=${value}`)].join('; ')
}

/** Max-Age takes precedence over Expires (RFC 6265). */
function isExpired(attributes: ReadonlyMap<string, string>, nowMs: number): boolean {
  const maxAge = attributes.get('max-age')
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0
  return Date.parse(attributes.get('expires') ?? '') <= nowMs
}

function splitOnce(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return at === -1 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
