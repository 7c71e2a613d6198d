import { stripHost } from '../guard/host.ts'
import type { CookieJar } from './cookies.ts'

/** A request that is ready to be sent; prepared once for repeated checks. */
export type PreparedRequest = {
  url: URL
  isTls: boolean
  host: string
  port: number
  method: string
  path: string
  /** name, value, name, value …: the form that Node sends without further processing */
  headers: string[]
  body: Buffer | undefined
  /** asks the server to keep the connection open */
  keepAlive: boolean
  /** the input of this request, for redirects */
  given: { headers: Record<string, string>; credentialHeaders: string[] }
  /** set by earlier responses, for further redirects; default: none */
  cookies?: CookieJar
}

export type RequestParts = {
  url: string
  method: string
  headers: Record<string, string>
  body: string | Buffer | null
  /** headers that are not sent to another origin after a redirect, in addition to Authorization and Cookie */
  credentialHeaders?: string[]
  /** ask the server to keep the connection open; see SendOptions */
  keepAlive?: boolean
}

/** Headers that are set here, because they belong to the connection or depend on the body. */
const MANAGED_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const USER_AGENT = 'Picket/1 (uptime monitor)'

/** @throws TypeError when `url` is not an http(s) URL */
export function prepareRequest(parts: RequestParts): PreparedRequest {
  const url = new URL(parts.url)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`${url.protocol} is not http or https`)
  const isTls = url.protocol === 'https:'
  const body = parts.body === null ? undefined : Buffer.from(parts.body as string)
  const defaultPort = isTls ? 443 : 80
  return {
    url,
    isTls,
    host: stripHost(url.hostname),
    port: url.port === '' ? defaultPort : Number(url.port),
    method: parts.method,
    path: url.pathname + url.search,
    headers: headerList(url.host, parts, body),
    body,
    keepAlive: parts.keepAlive ?? false,
    given: { headers: parts.headers, credentialHeaders: parts.credentialHeaders ?? [] },
  }
}

function headerList(host: string, { headers, method, keepAlive }: RequestParts, body: Buffer | undefined): string[] {
  const list: string[] = []
  const names = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase()
    if (MANAGED_HEADERS.has(key) || names.has(key)) continue
    names.add(key)
    list.push(name, bytesAsLatin1(value))
  }
  if (!names.has('user-agent')) list.unshift('User-Agent', USER_AGENT)
  if (!names.has('accept')) list.push('Accept', '*/*')
  if (!names.has('host')) list.unshift('Host', host)
  if (body !== undefined || ['POST', 'PUT', 'PATCH'].includes(method)) {
    list.push('Content-Length', String(body?.length ?? 0))
  }
  list.push('Connection', keepAlive ? 'keep-alive' : 'close')
  return list
}

/** Node writes header values as Latin-1; this preserves the UTF-8 bytes of the value. */
const bytesAsLatin1 = (value: string) => Buffer.from(value, 'utf8').toString('latin1')
