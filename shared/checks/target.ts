import { isIP, isIPv6 } from 'node:net'
import { hasControlCharacter } from '../control-characters.ts'
import { normalizeHost } from '../egress/guard/host.ts'
import type { MonitorType } from './check.ts'
import { type DnsTarget, isDnsUri, parseDnsUri } from './dns-uri.ts'

/** The host and port of a monitor's `url`. */
type MonitorTarget = {
  /** as a socket accepts it: no brackets, no final dot, lower case, punycode */
  host: string
  /** null: the url has no port and its type has no default */
  port: number | null
}

const MAX_TARGET_LENGTH = 2048

/**
 * Parses a monitor's `url`: an http(s) URL for `http` and `keyword`; `host`, `host:port`, `tcp://host:port`, `ping://host`,
 * `dns://name` or an http(s) URL for the other types. The host of a dns monitor is the server that it names, else the name.
 * `{ error }` is a message for the user. Used by the API and the probe.
 */
export function parseTarget(type: MonitorType, text: string): MonitorTarget | { error: string } {
  if (text.length > MAX_TARGET_LENGTH) return { error: `url is longer than ${MAX_TARGET_LENGTH} characters` }
  // A URL parser would silently remove some of these.
  if (hasControlCharacter(text)) return { error: 'url contains a control character' }
  if (/^https?:/i.test(text)) return parseHttp(text)
  if (type === 'http' || type === 'keyword') {
    return { error: `url of ${article(type)} monitor must begin with http:// or https://` }
  }
  if (type === 'dns' && isDnsUri(text)) {
    const target = parseDnsUri(text)
    return 'error' in target ? target : (target.server ?? { host: target.name, port: null })
  }
  return parseAddress(type, text)
}

/** The query of a dns monitor. In forms without a server only the host is used; a port is ignored. */
export function parseDnsTarget(text: string): DnsTarget | { error: string } {
  const target = parseTarget('dns', text)
  if ('error' in target) return target
  return isDnsUri(text) ? parseDnsUri(text) : { name: target.host, type: null, server: null }
}

/** The reason why a monitor's `url` cannot be checked, or null: an entry of `configuration_issues`. */
export function findTargetProblem(type: MonitorType, url: string | null): string | null {
  if (type === 'heartbeat') return null
  if (url === null) return `url is required to check ${article(type)} monitor`
  const target = parseTarget(type, url)
  if ('error' in target) return target.error
  if (type === 'dns') return dnsIssue(url)
  return type === 'tcp' && target.port === null ? 'port is required to check a tcp monitor' : null
}

function dnsIssue(url: string): string | null {
  const target = parseDnsTarget(url)
  const isAddress = 'name' in target && isIP(target.name) !== 0
  return isAddress
    ? 'a dns monitor needs a name to look up, not an address; to name a server, use dns://server/name'
    : null
}

function parseHttp(text: string): MonitorTarget | { error: string } {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return { error: 'url is not a valid URL' }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    return { error: 'url contains a user name or password; use auth_type and auth_config instead' }
  }
  if (url.port === '0') return { error: 'port 0 cannot be checked' }
  const defaultPort = url.protocol === 'https:' ? 443 : 80
  return parseHost(url.hostname, url.port === '' ? defaultPort : Number(url.port))
}

const ADDRESS = /^(?:(?:tcp|ping|dns):\/\/)?(\[[^\]]*\]|[^:[\]/]+)(?::(\d{1,5}))?\/?$/i

function parseAddress(type: MonitorType, text: string): MonitorTarget | { error: string } {
  if (isIPv6(text)) return parseHost(text, null)
  const [, host, port] = ADDRESS.exec(text) ?? []
  if (host === undefined) {
    return {
      error: `url is not valid for ${article(type)} monitor; use host, host:port, ${type}://host or an http(s) URL`,
    }
  }
  if (port === undefined) return parseHost(host, null)
  const number = Number(port)
  if (number < 1 || number > 65_535) return { error: `port ${port} is not between 1 and 65535` }
  return parseHost(host, number)
}

function parseHost(text: string, port: number | null): MonitorTarget | { error: string } {
  const host = normalizeHost(text)
  return host === null ? { error: `"${text}" is not a host` } : { host, port }
}

const article = (type: string) => `${/^[aeiouh]/.test(type) ? 'an' : 'a'} ${type}`
