import { createTargetFailure, type EgressFailure } from '../failure.ts'
import { type PreparedRequest, prepareRequest } from './prepare.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])

export const isRedirect = (statusCode: number, location: string | undefined) =>
  location !== undefined && REDIRECTS.has(statusCode)

/**
 * The next request after a redirect, as the Fetch standard defines: 303, and 301 and 302 after a POST, become a GET without
 * a body; 307 and 308 repeat the request. Credentials are not sent to another origin. Throws an EgressFailure.
 */
export function followRedirect(from: PreparedRequest, statusCode: number, location: string): PreparedRequest {
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
  return prepareRequest({
    url: url.href,
    method: becomesGet ? 'GET' : from.method,
    headers: Object.fromEntries(kept),
    body: becomesGet ? null : (from.body ?? null),
    credentialHeaders: from.given.credentialHeaders,
  })
}

function resolveLocation(from: PreparedRequest, location: string): URL {
  // Node decodes header bytes as Latin-1; browsers decode them as UTF-8.
  const text = Buffer.from(location, 'latin1').toString('utf8')
  if (!URL.canParse(text, from.url.href)) throw invalid('to an invalid URL')
  const url = new URL(text, from.url)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalid(`to a ${url.protocol} address`)
  url.username = ''
  url.password = ''
  return url
}

function invalid(what: string): EgressFailure {
  return createTargetFailure('invalid_redirect', `the target redirects ${what}`)
}
