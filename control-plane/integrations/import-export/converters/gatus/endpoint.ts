import type { MonitorEntry } from '../../file/project-file.ts'
import { LEFT_OUT } from '../../import/import-report.ts'
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
import { toDurationMs } from './duration.ts'
import { hasPlaceholder, hasVariable, VARIABLE_WARNING } from './template-values.ts'

type AddWarning = (message: string) => void
type Target = Pick<MonitorEntry, 'type' | 'url'>

/** The defaults of Gatus. */
const INTERVAL_MS = 60_000
const TIMEOUT_MS = 10_000

/** Converts an endpoint without its alerts; null when Picket has no equivalent. */
export function toMonitor(endpoint: ForeignRecord, id: string, warn: AddWarning): MonitorEntry | null {
  const name = toName(endpoint.name, 'Endpoint')
  const addWarning = (message: string) => warn(`${name}: ${message}`)
  const target = toTarget(endpoint)
  if (typeof target === 'string') {
    addWarning(`${target}${LEFT_OUT}`)
    return null
  }
  const conditions = readConditions(endpoint, target)
  const opposite = conditions.find(({ isOpposite }) => isOpposite)
  if (opposite) {
    addWarning(`"${opposite.text}": ${opposite.note}${LEFT_OUT}`)
    return null
  }
  warnAboutLost(endpoint, target.type, addWarning)
  warnIfCut(endpoint.name, name, addWarning)
  return {
    id,
    name,
    ...target,
    ...toTimes(endpoint, addWarning),
    ...(target.type === 'http' && toRequest(endpoint)),
    ...toAssertions(conditions, target.type, addWarning),
    ...(endpoint.enabled === false && { is_paused: true }),
    tags: toTags([toText(endpoint.group)], addWarning),
  }
}

const SCHEMES: Record<string, MonitorEntry['type']> = { http: 'http', https: 'http', tcp: 'tcp', icmp: 'ping' }

/** Returns the target, or a text that says why there is none. */
function toTarget({ url, dns }: ForeignRecord): Target | string {
  const address = toText(url)
  if (address === null) return 'it has no url'
  if (isRecord(dns)) return dnsTarget(address, dns)
  const scheme = /^([a-z]+):\/\//i.exec(address)?.[1]?.toLowerCase() ?? ''
  if (!Object.hasOwn(SCHEMES, scheme)) return `addresses with ${scheme || address}:// are not supported`
  const type = SCHEMES[scheme]!
  return { type, url: type === 'ping' ? address.replace(/^icmp:/i, 'ping:') : address }
}

/** Converts a DNS endpoint, whose URL is the server to query. */
function dnsTarget(server: string, dns: ForeignRecord): Target {
  const name = (toText(dns['query-name']) ?? '').replace(/\.$/, '')
  const host = server.replace(/^[a-z]+:\/\//i, '')
  const isBareIpv6 = /^[0-9a-f:]+$/i.test(host) && host.split(':', 3).length === 3
  return {
    type: 'dns',
    url: `dns://${isBareIpv6 ? `[${host}]` : host}/${name}?type=${toText(dns['query-type']) ?? 'A'}`,
  }
}

function toTimes({ interval, client }: ForeignRecord, addWarning: AddWarning) {
  const seconds = toDurationMs(INTERVAL_MS, ['interval', interval], addWarning) / 1_000
  const timeout = isRecord(client) ? client.timeout : undefined
  const timeoutMs = toDurationMs(TIMEOUT_MS, ['timeout', timeout], addWarning)
  return {
    interval_seconds: clampWithWarning(seconds, INTERVAL_BOUNDS, clamped =>
      addWarning(`its interval of ${seconds} s was changed to ${clamped} s`),
    ),
    timeout_ms: clampWithWarning(timeoutMs, TIMEOUT_BOUNDS, clamped =>
      addWarning(`its timeout of ${timeoutMs} ms was changed to ${clamped} ms`),
    ),
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

/** Gatus writes records of these types differently: with a final dot, without the preference of a mail server, or with a port. */
const DIFFERENT_RECORDS = /\?type=(MX|NS|CNAME|SRV)$/i

function readConditions({ conditions }: ForeignRecord, { type, url }: Pick<MonitorEntry, 'type' | 'url'>) {
  const texts = Array.isArray(conditions) ? conditions.map(String) : []
  const recordType = type === 'dns' ? DIFFERENT_RECORDS.exec(url ?? '')?.[1] : undefined
  return texts.map(text => {
    const condition = parseCondition(text, type)
    const isOfRecord = condition.assertions.some(assertion => assertion.type === 'dns_record')
    if (recordType === undefined || !isOfRecord) return { text, ...condition }
    return { text, ...condition, assertions: [], note: `Picket writes ${recordType} records in another way` }
  })
}

function toAssertions(
  converted: ReturnType<typeof readConditions>,
  type: MonitorEntry['type'],
  addWarning: AddWarning,
): Partial<MonitorEntry> {
  for (const { text, note, assertions, domainCheck } of converted) {
    if (note !== undefined)
      addWarning(`"${text}": ${note}${assertions.length > 0 || domainCheck ? '' : '; this condition was left out'}`)
  }
  const assertions = converted.flatMap(condition => condition.assertions)
  // without a condition on the status, Gatus accepts any; the default of Picket is 200 to 399, also for one that was left out
  const isAnyStatus = type === 'http' && !converted.some(({ text }) => /\[STATUS\]/i.test(text))
  return {
    assertions: [...(isAnyStatus ? [ANY_STATUS] : []), ...assertions],
    ...(converted.some(({ domainCheck }) => domainCheck) && { domain_check: true }),
    ...(assertions.some(({ type }) => type === 'certificate_days') && { ssl_check: true }),
  }
}

/** Properties without a counterpart. */
const LOST: [string, string][] = [
  ['ssh', 'its ssh settings'],
  ['ui', 'its ui settings'],
  ['extra-labels', 'its extra-labels'],
  ['store', 'its stored values for a suite'],
]
const LOST_OF_CLIENT: [string, string][] = [
  ['insecure', 'certificates are always verified; an invalid one makes the check fail'],
  ['ignore-redirect', 'up to ten redirects are followed'],
  ['proxy-url', 'its proxy was not carried over'],
  ['dns-resolver', 'its DNS resolver was not carried over'],
  ['oauth2', 'its oauth2 was not carried over'],
  ['identity-aware-proxy', 'its identity-aware-proxy was not carried over'],
  ['tls', 'its client certificate was not carried over'],
  ['network', 'its network setting was not carried over'],
  ['tunnel', 'its tunnel was not carried over'],
]

function warnAboutLost(endpoint: ForeignRecord, type: MonitorEntry['type'], addWarning: AddWarning): void {
  for (const [key, name] of LOST) if (endpoint[key] != null) addWarning(`${name} were not carried over`)
  const client = isRecord(endpoint.client) ? endpoint.client : {}
  for (const [key, message] of LOST_OF_CLIENT) if (client[key] != null && client[key] !== false) addWarning(message)
  if (hasVariable([endpoint.url, endpoint.headers, endpoint.body, endpoint.conditions, endpoint.dns]))
    addWarning(VARIABLE_WARNING)
  if (isSet(endpoint.headers) && !isRecord(endpoint.headers)) addWarning('its headers are invalid; they were left out')
  if (isSet(endpoint.conditions) && !Array.isArray(endpoint.conditions))
    addWarning('its conditions are not a list; they were left out')
  if (hasPlaceholder(endpoint.body)) addWarning('placeholders in its body are not replaced')
  if (isSet(endpoint.body) && type !== 'http') addWarning('its body was not carried over')
}

/** Converts a failure-threshold to re-checks. */
export function computeRetries(threshold: number, addWarning: AddWarning): number {
  return clampWithWarning(threshold - 1, [0, MAX_RETRIES], clamped =>
    addWarning(`its failure-threshold was changed to ${clamped} re-checks`),
  )
}
