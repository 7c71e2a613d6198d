import type { MonitorEntry } from '../../file/project-file.ts'
import {
  clampWithWarning,
  type ForeignRecord,
  INTERVAL_BOUNDS,
  isRecord,
  isSet,
  MAX_RETRIES,
  TIMEOUT_BOUNDS,
  toName,
  toTags,
  toText,
  warnIfCut,
} from '../foreign-file.ts'
import { parseCondition } from './conditions.ts'
import { parseDurationMs } from './duration.ts'
import { hasPlaceholder, hasVariable, VARIABLE_WARNING } from './template-values.ts'

type Say = (message: string) => void
type Target = Pick<MonitorEntry, 'type' | 'url'>

/** Gatus' own defaults. */
const INTERVAL_MS = 60_000
const TIMEOUT_MS = 10_000

/** An endpoint as a monitor, without its alerts; null where Picket has nothing that would mean the same. */
export function toMonitor(endpoint: ForeignRecord, id: string, say: Say): MonitorEntry | null {
  const name = toName(endpoint.name, 'Endpoint')
  const tell = (message: string) => say(`${name}: ${message}`)
  const target = toTarget(endpoint)
  if (typeof target === 'string') {
    tell(`${target}; it was left out`)
    return null
  }
  warnAboutLost(endpoint, target.type, tell)
  warnIfCut(endpoint.name, name, tell)
  return {
    id,
    name,
    ...target,
    ...toTimes(endpoint, tell),
    ...(target.type === 'http' && toRequest(endpoint)),
    ...toAssertions(endpoint, target.type, tell),
    ...(endpoint.enabled === false && { is_paused: true }),
    tags: toTags([toText(endpoint.group)], tell),
  }
}

const SCHEMES: Record<string, MonitorEntry['type']> = { http: 'http', https: 'http', tcp: 'tcp', icmp: 'ping' }

/** A text: why there is none. */
function toTarget({ url, dns }: ForeignRecord): Target | string {
  const address = toText(url)
  if (address === null) return 'it has no url'
  if (isRecord(dns)) return dnsTarget(address, dns)
  const scheme = /^([a-z]+):\/\//i.exec(address)?.[1]?.toLowerCase() ?? ''
  if (!Object.hasOwn(SCHEMES, scheme)) return `addresses such as ${scheme || address}:// are not checked by Picket`
  const type = SCHEMES[scheme]!
  return { type, url: type === 'ping' ? address.replace(/^icmp:/i, 'ping:') : address }
}

/** The url is the server to ask. */
function dnsTarget(server: string, dns: ForeignRecord): Target {
  const name = (toText(dns['query-name']) ?? '').replace(/\.$/, '')
  const host = server.replace(/^[a-z]+:\/\//i, '')
  const isBareIpv6 = /^[0-9a-f:]+$/i.test(host) && host.split(':', 3).length === 3
  return {
    type: 'dns',
    url: `dns://${isBareIpv6 ? `[${host}]` : host}/${name}?type=${toText(dns['query-type']) ?? 'A'}`,
  }
}

function toTimes({ interval, client }: ForeignRecord, tell: Say) {
  const every = (parseDurationMs(interval) ?? INTERVAL_MS) / 1_000
  const wait = (isRecord(client) ? parseDurationMs(client.timeout) : null) ?? TIMEOUT_MS
  return {
    interval_seconds: clampWithWarning(every, INTERVAL_BOUNDS, moved =>
      tell(`it was checked every ${every} s, and is every ${moved} s`),
    ),
    timeout_ms: clampWithWarning(wait, TIMEOUT_BOUNDS, moved => tell(`its timeout of ${wait} ms becomes ${moved} ms`)),
  }
}

function toRequest(endpoint: ForeignRecord): Partial<MonitorEntry> {
  const own = isRecord(endpoint.headers) ? endpoint.headers : {}
  const headers = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, String(value)]))
  const body = toText(endpoint.body)
  const isGraphql = endpoint.graphql === true
  const hasType = Object.keys(headers).some(name => name.toLowerCase() === 'content-type')
  if (isGraphql && !hasType) headers['Content-Type'] = 'application/json'
  return {
    method: (toText(endpoint.method) ?? 'GET').toUpperCase() as MonitorEntry['method'],
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== null && { body: isGraphql ? JSON.stringify({ query: body }) : body }),
  }
}

const ANY_STATUS = { type: 'status_code', operator: 'greater_than', value: '0' }

function toAssertions({ conditions }: ForeignRecord, type: MonitorEntry['type'], tell: Say): Partial<MonitorEntry> {
  const texts = Array.isArray(conditions) ? conditions.map(String) : []
  const read = texts.map(text => ({ text, ...parseCondition(text, type) }))
  for (const { text, note, assertions, domainCheck } of read) {
    if (note !== undefined) tell(`"${text}": ${note}${assertions.length > 0 || domainCheck ? '' : '; it was left out'}`)
  }
  const assertions = read.flatMap(condition => condition.assertions)
  // where nothing is said of the status, any is good there; here it would be 200 to 399
  const isAnyStatus = type === 'http' && !assertions.some(({ type }) => type === 'status_code')
  return {
    assertions: [...(isAnyStatus ? [ANY_STATUS] : []), ...assertions],
    ...(read.some(({ domainCheck }) => domainCheck) && { domain_check: true }),
    ...(assertions.some(({ type }) => type === 'certificate_days') && { ssl_check: true }),
  }
}

/** Parts that have no counterpart. */
const LOST: [string, string][] = [
  ['ssh', 'its ssh settings'],
  ['ui', 'how it is shown (ui)'],
  ['extra-labels', 'its extra-labels'],
  ['store', 'what it stores for a suite'],
]
const LOST_OF_CLIENT: [string, string][] = [
  ['insecure', 'certificates are always verified here; a wrong one makes it fail'],
  ['ignore-redirect', 'redirects are followed here, up to ten'],
  ['proxy-url', 'its proxy was not carried over'],
  ['dns-resolver', 'its own resolver was not carried over'],
  ['oauth2', 'its oauth2 was not carried over'],
  ['identity-aware-proxy', 'its identity-aware-proxy was not carried over'],
  ['tls', 'its client certificate was not carried over'],
  ['network', 'its kind of network was not carried over'],
  ['tunnel', 'its tunnel was not carried over'],
]

function warnAboutLost(endpoint: ForeignRecord, type: MonitorEntry['type'], tell: Say): void {
  for (const [key, what] of LOST) if (endpoint[key] != null) tell(`${what} was not carried over`)
  const client = isRecord(endpoint.client) ? endpoint.client : {}
  for (const [key, message] of LOST_OF_CLIENT) if (client[key] != null && client[key] !== false) tell(message)
  if (hasVariable([endpoint.url, endpoint.headers, endpoint.body])) tell(VARIABLE_WARNING)
  if (hasPlaceholder(endpoint.body)) tell('placeholders in its body are sent as they are written')
  if (isSet(endpoint.body) && type !== 'http') tell('its body was not carried over')
}

/** How many failures in a row its alerts wait for, as re-checks. */
export function computeRetries(thresholds: number[], tell: Say): number {
  const retries = Math.max(0, ...thresholds.map(threshold => threshold - 1))
  if (new Set(thresholds).size > 1) tell(`its alerts wait for ${retries + 1} failures, the most that one of them did`)
  return clampWithWarning(retries, [0, MAX_RETRIES], moved => tell(`its failure-threshold becomes ${moved} re-checks`))
}
