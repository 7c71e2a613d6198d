import { normalizeHost } from '../egress/guard/host.ts'
import { DNS_TYPES, type DnsType, parseDnsType } from './dns-types.ts'

/** The query of a dns monitor, and its server. */
export type DnsTarget = {
  /** lower case, punycode, no final dot */
  name: string
  /** null: the url does not name a type */
  type: DnsType | null
  /** null: the probe's own resolvers */
  server: { host: string; port: number } | null
}

const URI = /^dns:(?:\/\/([^/?#]*))?(?:\/?([^/?#]*))(?:\?([^#]*))?$/i
const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/
const FORMS = 'use dns://name or dns://server/name?type=MX'

export const isDnsUri = (text: string) => /^dns:/i.test(text)

/**
 * Parses `dns://server[:port]/name?type=MX` (RFC 4501), `dns:name?type=MX`, and, as an extension, `dns://name?type=MX`: an
 * authority without a path is the name, queried with the probe's own resolvers. `{ error }` is a message for the user.
 */
export function parseDnsUri(text: string): DnsTarget | { error: string } {
  const [, authority = '', path = '', query = ''] = URI.exec(text) ?? []
  if (authority === '' && path === '') return { error: `url is not valid for a dns monitor; ${FORMS}` }
  const type = parseRecordType(query)
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

/** RFC 4501 separates parameters with semicolons; ampersands are accepted as well. */
function parseRecordType(query: string): DnsType | null | { error: string } {
  let type: DnsType | null = null
  for (const parameter of query.split(/[;&]/).filter(text => text !== '')) {
    const [key = '', value = ''] = parameter.toLowerCase().split('=')
    if (key === 'type') {
      type = parseDnsType(value)
      if (type === null) return { error: `"${value}" is not a DNS record type; use one of ${DNS_TYPES.join(', ')}` }
    } else if (key !== 'class' || value !== 'in')
      return { error: `"${parameter}" is not supported in a dns url; ${FORMS}` }
  }
  return type
}
