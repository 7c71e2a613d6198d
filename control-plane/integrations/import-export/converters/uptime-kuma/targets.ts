import { parseJsonPath } from '../../../../../shared/assertions/json-path.ts'
import type { MonitorEntry } from '../../file/project-file.ts'
import { LEFT_OUT } from '../../import/import-report.ts'
import {
  clampWithWarning,
  type ForeignRecord,
  HEARTBEAT_BOUNDS,
  isOn,
  isRecord,
  isSet,
  toNumber,
  toNumberOr,
  toText,
} from '../foreign-file.ts'

type AddWarning = (message: string) => void
type Target = Omit<MonitorEntry, 'name'>
type Assertion = { type: string; operator: string; value: string }

/** Added to the warning about a monitor that would be down at once. */
const PAUSED = 'the monitor is paused until you change it'

/** Converts the target of each type; null when Picket has no equivalent. */
export const TARGET_CONVERTERS: Record<string, (record: ForeignRecord, addWarning: AddWarning) => Target | null> = {
  http: (record, addWarning) => ({
    type: 'http',
    ...toRequest(record, addWarning),
    assertions: statusAssertions(record, addWarning),
  }),
  keyword: toKeyword,
  'json-query': toJsonQuery,
  port: toTcp,
  ping: record => ({ type: 'ping', url: toHost(record) }),
  dns: toDns,
  push: toHeartbeat,
}

function toTcp(record: ForeignRecord, addWarning: AddWarning): Target | null {
  if (isSet(record.port))
    return { type: 'tcp', url: `${toHost(record)}:${toNumberOr(443, ['port', record.port], addWarning)}` }
  addWarning(`it has no port${LEFT_OUT}`)
  return null
}

function toKeyword(record: ForeignRecord, addWarning: AddWarning): Target {
  const keyword = toText(record.keyword)
  if (keyword !== null && /":|,"|[{[]"/.test(keyword)) {
    addWarning(
      'Uptime Kuma removes the spaces of JSON before it searches; check the keyword, or use a json_path assertion',
    )
  }
  return {
    type: 'keyword',
    ...toRequest(record, addWarning),
    assertions: statusAssertions(record, addWarning),
    ...(keyword !== null && { keyword }),
    keyword_type: isOn(record.invertKeyword) ? 'not_contains' : 'contains',
  }
}

/** Returns the host. An IPv6 address has brackets, because a port may follow. */
function toHost(record: ForeignRecord): string {
  const host = toText(record.hostname)?.trim() ?? ''
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

function toRequest(record: ForeignRecord, addWarning: AddWarning): Partial<Target> {
  const body = toText(record.body)
  const own = toHeaders(record, addWarning)
  const hasType = Object.keys(own).some(name => name.toLowerCase() === 'content-type')
  const headers = { ...(!hasType && contentType(record, body)), ...own }
  const { url, login } = splitLogin(toText(record.url))
  return {
    ...(url !== null && { url }),
    method: (toText(record.method) ?? 'GET').toUpperCase() as Target['method'],
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== null && { body }),
    ...login,
    ...toAuth(record, addWarning),
    ...(acceptsOnlyRedirect(record, addWarning) && { is_paused: true }),
    ...(isOn(record.expiryNotification) && { ssl_check: true }),
    ...(isOn(record.domainExpiryNotification) && { domain_check: true }),
  }
}

/** Takes `user:password@` out of an address, which Uptime Kuma sends as basic authentication. */
function splitLogin(text: string | null): { url: string | null; login: Partial<Target> } {
  const url = text !== null && URL.canParse(text) ? new URL(text) : null
  if (!url || (url.username === '' && url.password === '')) return { url: text, login: {} }
  const [username, password] = [url.username, url.password].map(decodeText)
  ;[url.username, url.password] = ['', '']
  return { url: url.href, login: { auth_type: 'basic', auth_config: { username, password } } }
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A monitor that expects a redirect as its final response could never be up, because redirects are followed. */
function acceptsOnlyRedirect(record: ForeignRecord, addWarning: AddWarning): boolean {
  const accepted = listAcceptedCodes(record).map(String)
  const followsNone = toNumber(record.maxredirects) === 0
  // 304 is a final response
  const isOne =
    followsNone && accepted.length > 0 && accepted.every(code => /^3\d\d(-3\d\d)?$/.test(code) && code !== '304')
  if (isOne) addWarning(`it expects a redirect, and redirects are followed; ${PAUSED}`)
  return isOne
}

const CONTENT_TYPES: Record<string, string> = {
  json: 'application/json',
  xml: 'text/xml; charset=utf-8',
  form: 'application/x-www-form-urlencoded',
}

function contentType(record: ForeignRecord, body: string | null): Record<string, string> {
  const type = CONTENT_TYPES[toText(record.httpBodyEncoding) ?? 'json']
  return body === null || type === undefined ? {} : { 'Content-Type': type }
}

/** Converts headers, which are JSON as text, or an object. */
function toHeaders({ headers }: ForeignRecord, addWarning: AddWarning): Record<string, string> {
  if (!isSet(headers) || (typeof headers === 'string' && headers.trim() === '')) return {}
  const value = parseJson(headers)
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, header]) => [name, String(header)]))
  addWarning('its headers are invalid; they were left out')
  return {}
}

function toAuth(record: ForeignRecord, addWarning: AddWarning): Partial<Target> {
  const method = toText(record.authMethod)
  const username = toText(record.basic_auth_user)
  if (method === 'bearer' && toText(record.bearer_token) !== null) {
    return { auth_type: 'bearer', auth_config: { token: toText(record.bearer_token) } }
  }
  // older versions supported only basic authentication and had no authMethod
  if ((method === 'basic' || record.authMethod === undefined) && username !== null) {
    return { auth_type: 'basic', auth_config: { username, password: toText(record.basic_auth_pass) ?? '' } }
  }
  if (method === null || method === 'basic') return {}
  addWarning(`its authentication (${method}) was not carried over; ${PAUSED}`)
  return { is_paused: true }
}

/** Parses JSON as text, and returns other values and texts as they are. */
function parseJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function listAcceptedCodes(record: ForeignRecord): unknown[] {
  const written = parseJson(record.accepted_statuscodes)
  return Array.isArray(written) ? written : isSet(written) ? [written] : ['200-299']
}

/** Converts `["200-299", "404"]` to one range or one regular expression. */
function statusAssertions(record: ForeignRecord, addWarning: AddWarning): Assertion[] {
  const accepted = listAcceptedCodes(record)
  const unknown = accepted.filter(text => !/^[1-9]\d\d(-[1-9]\d\d)?$/.test(String(text)))
  if (unknown.length > 0) addWarning('its accepted status codes were not all understood; check its assertion')
  const ranges = accepted.flatMap(text => {
    const [, first, last = first] = /^([1-9]\d\d)(?:-([1-9]\d\d))?$/.exec(String(text)) ?? []
    return first === undefined ? [] : [[Number(first), Number(last)] as const]
  })
  const merged: [number, number][] = []
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = merged.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  if (merged.length === 0) return [{ type: 'status_code', operator: 'equals', value: '200-299' }]
  const [only] = merged
  if (merged.length === 1) return [{ type: 'status_code', operator: 'equals', value: rangeText(only!) }]
  return [{ type: 'status_code', operator: 'matches', value: `^(${merged.map(formatCodes).join('|')})$` }]
}

const rangeText = ([first, last]: [number, number]) => (first === last ? `${first}` : `${first}-${last}`)

/** Writes whole hundreds as a pattern and other ranges code by code. */
function formatCodes([first, last]: [number, number]): string {
  const codes: string[] = []
  for (let code = first; code <= last; code++) {
    const isHundred = code % 100 === 0 && code + 99 <= last
    codes.push(isHundred ? `${code / 100}\\d\\d` : `${code}`)
    if (isHundred) code += 99
  }
  return codes.join('|')
}

const OPERATORS: Record<string, string> = {
  '==': 'equals',
  '!=': 'not_equals',
  '<': 'less_than',
  '>': 'greater_than',
  contains: 'contains',
}

/** Converts a JSONata query. Only plain paths have the same meaning in Picket. */
function toJsonQuery(record: ForeignRecord, addWarning: AddWarning): Target {
  const query = toText(record.jsonPath) ?? '$'
  const written = query.startsWith('$') ? query : `$.${query}`
  const path = written.replaceAll('`', '')
  const operator = OPERATORS[toText(record.jsonPathOperator) ?? '==']
  // without back quotes, a hyphen is a subtraction
  const isPlain = /^\$(\.([A-Za-z_]\w*|`[A-Za-z_][\w-]*`)|\[\d+\])*$/.test(written) && parseJsonPath(path) !== null
  const assertion = {
    type: 'json_path',
    operator: operator ?? '',
    value: `${path}: ${toText(record.expectedValue) ?? ''}`,
  }
  if (!isPlain) addWarning(`its query ${query} is not a plain path; its assertion was left out`)
  else if (operator === undefined)
    addWarning(`its operator ${record.jsonPathOperator} is not supported; its assertion was left out`)
  const isKept = isPlain && operator !== undefined
  return {
    type: 'http',
    ...toRequest(record, addWarning),
    assertions: [...statusAssertions(record, addWarning), ...(isKept ? [...presence(operator, path), assertion] : [])],
  }
}

/** A comparison with `!=` fails in Uptime Kuma when there is no value, or null. */
const presence = (operator: string, path: string) =>
  operator === 'not_equals'
    ? [
        { type: 'json_path', operator: 'exists', value: path },
        { type: 'json_path', operator, value: `${path}: null` },
      ]
    : []

function toDns(record: ForeignRecord, addWarning: AddWarning): Target | null {
  const [server, ...others] = (toText(record.dns_resolve_server) ?? '').split(',').map(address => address.trim())
  if (others.length > 0) addWarning(`only its first resolver, ${server}, is used`)
  const port = toNumberOr(53, ['port', record.port], addWarning)
  const at = server ? `${server.includes(':') ? `[${server}]` : server}${port === 53 ? '' : `:${port}`}/` : ''
  const type = toText(record.dns_resolve_type) ?? 'A'
  if (type !== 'PTR') return { type: 'dns', url: `dns://${at}${toHost(record)}?type=${type}` }
  addWarning(`PTR records are not supported${LEFT_OUT}`)
  return null
}

/** Converts a push monitor. Its ping address is new, because it is a secret of each server. */
function toHeartbeat(record: ForeignRecord, addWarning: AddWarning): Target {
  addWarning('it gets a new ping address; update the sender of the pings')
  const interval = toNumberOr(60, ['interval', record.interval], addWarning)
  const onClamped = (clamped: number) => addWarning(`its interval of ${interval} s was changed to ${clamped} s`)
  const retries = toNumberOr(0, ['number of retries', record.maxretries], addWarning)
  const grace = retries * (toNumberOr(interval, ['retry interval', record.retryInterval], addWarning) || interval)
  return {
    type: 'heartbeat',
    heartbeat_interval: clampWithWarning(interval, HEARTBEAT_BOUNDS, onClamped),
    heartbeat_grace: Math.min(grace, HEARTBEAT_BOUNDS[1]),
  }
}
