import { normalizeHost } from '../egress/guard/host.ts'
import { DNS_TYPES, type DnsType, parseDnsType } from './dns-types.ts'

/** What a dns monitor asks, and whom. */
export type DnsTarget = {
  /** lower case, punycode, no dot at the end */
  name: string
  /** null when the url names none */
  type: DnsType | null
  /** null: the probe's own resolvers */
  server: { host: string; port: number } | null
}

const URI = /^dns:(?:\/\/([^/?#]*))?(?:\/?([^/?#]*))(?:\?([^#]*))?$/i
const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/
const FORMS = 'write dns://name, or dns://server/name?type=MX'

export const isDnsUri = (text: string) => /^dns:/i.test(text)

/**
 * Reads `dns://server[:port]/name?type=MX` (RFC 4501), `dns:name?type=MX`, and `dns://name?type=MX`, which is ours: an
 * authority without a path is the name, asked of the probe's own resolvers. `{ error }` is a sentence for the customer.
 */
export function parseDnsUri(text: string): DnsTarget | { error: string } {
  const [, authority = '', path = '', query = ''] = URI.exec(text) ?? []
  if (authority === '' && path === '') return { error: `url is no address of a dns monitor; ${FORMS}` }
  const type = typeIn(query)
  if (typeof type === 'object' && type !== null) return type
  if (path === '') {
    const [, host = ''] = AUTHORITY.exec(authority) ?? []
    return parseDnsName(host || authority, type, null)
  }
  if (authority === '') return parseDnsName(path, type, null)
  const server = parseServerAuthority(authority)
  return 'error' in server ? server : parseDnsName(path, type, server)
}

function parseDnsName(text: string, type: DnsType | null, server: DnsTarget['server']): DnsTarget | { error: string } {
  const name = normalizeHost(text)
  return name === null ? { error: `"${text}" is not a host` } : { name, type, server }
}

function parseServerAuthority(authority: string): { host: string; port: number } | { error: string } {
  const [, text = authority, port = '53'] = AUTHORITY.exec(authority) ?? []
  const host = normalizeHost(text)
  if (host === null) return { error: `"${text}" is not a host` }
  if (Number(port) < 1 || Number(port) > 65_535) return { error: `port ${port} is not between 1 and 65535` }
  return { host, port: Number(port) }
}

/** Parameters are separated by semicolons in RFC 4501, and by ampersands by everybody else. */
function typeIn(query: string): DnsType | null | { error: string } {
  let type: DnsType | null = null
  for (const parameter of query.split(/[;&]/).filter(text => text !== '')) {
    const [key = '', value = ''] = parameter.toLowerCase().split('=')
    if (key === 'type') {
      type = parseDnsType(value)
      if (type === null) return { error: `"${value}" is not a type of record; use one of ${DNS_TYPES.join(', ')}` }
    } else if (key !== 'class' || value !== 'in') return { error: `"${parameter}" is unknown in a dns url; ${FORMS}` }
  }
  return type
}
