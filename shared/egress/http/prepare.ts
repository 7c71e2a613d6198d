import { stripHost } from '../guard/host.ts'

/** A request ready to be sent, made once for a target that is asked again and again. */
export type PreparedRequest = {
  url: URL
  isTls: boolean
  host: string
  port: number
  method: string
  path: string
  /** name, value, name, value: what node sends without looking at each of them again */
  headers: string[]
  body: Buffer | undefined
  /** the other side is asked to leave the connection open */
  keepAlive: boolean
  /** the same request's input, for a redirect */
  given: { headers: Record<string, string>; credentialHeaders: string[] }
}

export type RequestParts = {
  url: string
  method: string
  headers: Record<string, string>
  body: string | Buffer | null
  /** headers that a redirect to another origin must not see, beside Authorization and Cookie */
  credentialHeaders?: string[]
  /** ask the other side to leave the connection open; see SendOptions */
  keepAlive?: boolean
}

/** Headers that belong to the connection, or that would contradict the body that is sent. */
const OURS = new Set([
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
    if (OURS.has(key) || names.has(key)) continue
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

/** node writes header values as Latin-1; this way a value's UTF-8 bytes arrive. */
const bytesAsLatin1 = (value: string) => Buffer.from(value, 'utf8').toString('latin1')
