import type { IncomingMessage } from 'node:http'
import { createTargetFailure, type EgressFailure } from '../failure.ts'
import { type CookieJar, formatCookies, NO_COOKIES, storeCookies } from './cookies.ts'
import { type PreparedRequest, prepareRequest } from './prepare.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])

export type Redirect = {
  statusCode: number
  location: string
  /** the Set-Cookie headers of the response */
  setCookie: readonly string[]
}

/** Node decodes the bytes of headers as Latin-1; browsers decode them as UTF-8. */
const decode = (header: string) => Buffer.from(header, 'latin1').toString('utf8')

/** Null when the response is not a redirect. */
export function readRedirect({ statusCode = 0, headers }: IncomingMessage): Redirect | null {
  if (headers.location === undefined || !REDIRECTS.has(statusCode)) return null
  const setCookie = headers['set-cookie'] ?? []
  return { statusCode, location: decode(headers.location), setCookie: setCookie.map(decode) }
}

/**
 * The next request after a redirect, as the Fetch standard defines: 303, and 301 and 302 after a POST, become a GET without
 * a body; 307 and 308 repeat the request. Credentials are not sent to another origin. Cookies that were set on the way are
 * sent to their host: without them, some servers redirect for ever. Throws an EgressFailure.
 */
export function followRedirect(
  from: PreparedRequest,
  { statusCode, location, setCookie }: Redirect,
  nowMs: number,
): PreparedRequest {
  const url = resolveLocation(from, location)
  const becomesGet =
    (statusCode === 303 && from.method !== 'GET' && from.method !== 'HEAD') ||
    ((statusCode === 301 || statusCode === 302) && from.method === 'POST')
  const dropped = new Set<string>()
  if (becomesGet) for (const name of ['content-encoding', 'content-language', 'content-type']) dropped.add(name)
  if (url.origin !== from.url.origin) {
    for (const name of ['authorization', 'cookie', 'proxy-authorization', 'host']) dropped.add(name)
    for (const name of from.given.credentialHeaders) dropped.add(name.toLowerCase())
  }
  const kept = Object.entries(from.given.headers).filter(([name]) => !dropped.has(name.toLowerCase()))
  const cookies = storeCookies(from.cookies ?? NO_COOKIES, from.url, setCookie, nowMs)
  const { credentialHeaders } = from.given
  const prepared = prepareRequest({
    url: url.href,
    method: becomesGet ? 'GET' : from.method,
    headers: withCookies(kept, cookies, url),
    body: becomesGet ? null : (from.body ?? null),
    credentialHeaders,
  })
  return { ...prepared, cookies, given: { headers: Object.fromEntries(kept), credentialHeaders } }
}

function withCookies(headers: [name: string, value: string][], cookies: CookieJar, url: URL): Record<string, string> {
  if (cookies.size === 0) return Object.fromEntries(headers)
  const isCookie = ([name]: [string, string]) => name.toLowerCase() === 'cookie'
  const given = headers.filter(isCookie).map(([, value]) => value)
  const value = formatCookies(cookies, url, given.join('; '))
  const others = headers.filter(header => !isCookie(header))
  return Object.fromEntries(value === '' ? others : [...others, ['Cookie', value]])
}

function resolveLocation(from: PreparedRequest, location: string): URL {
  if (!URL.canParse(location, from.url.href)) throw invalid('to an invalid URL')
  const url = new URL(location, from.url)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalid(`to a ${url.protocol} address`)
  url.username = ''
  url.password = ''
  return url
}

function invalid(what: string): EgressFailure {
  return createTargetFailure('invalid_redirect', `the target redirects ${what}`)
}
