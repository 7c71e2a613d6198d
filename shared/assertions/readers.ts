import type { Observation, Timings } from '../result.ts'
import { wantDnsRecord } from './dns-record.ts'
import { atJsonPath, type JsonPath, readJsonPath } from './json-path.ts'
import { OPERATORS, type OperatorName } from './operators.ts'

/** What an assertion looks at, read once for all assertions of a check. */
export type Seen = {
  observation: Observation
  /** ms since 1970 */
  nowMs: number
  /** the body as text */
  text: () => string
  /** the body parsed; undefined when it is not JSON */
  json: () => { value: unknown } | undefined
}

/** A text, null when it is not there, the texts of which each may be meant, or the reason why it cannot be told. */
export type Reading = string | null | string[] | { unreadable: string }

/** Where to look (a header's name, a path) and what to expect there, both from the assertion's value. */
export type Wanted = { read: (seen: Seen) => Reading; expected: string }

export type Reader = {
  operators: readonly OperatorName[]
  /** a failure makes the check degraded instead of failed */
  degrades: boolean
  needsBody: boolean
  /** splits the assertion's value; a text is the reason why it cannot be */
  want: (value: string, takesValue: boolean, operator: OperatorName) => Wanted | string
}

const NUMERIC: readonly OperatorName[] = ['equals', 'not_equals', 'less_than', 'greater_than']
const TEXTUAL: readonly OperatorName[] = ['equals', 'not_equals', 'contains', 'not_contains', 'matches', 'not_matches']
const ALL = Object.keys(OPERATORS) as OperatorName[]

const DAY_MS = 86_400_000

/** Types of assertions (decisions 3.5). A new one is a row here. */
export const READERS: Record<string, Reader> = {
  status_code: plain([...NUMERIC, 'matches', 'not_matches'], seen => textOf(seen.observation.statusCode)),
  response_time: duration(seen => seen.observation.totalUs),
  header: { operators: ALL, degrades: false, needsBody: false, want: wantHeader },
  body: { ...plain(TEXTUAL, seen => seen.text()), needsBody: true },
  json_path: { operators: ALL, degrades: false, needsBody: true, want: wantJsonPath },
  dns_record: {
    operators: [...TEXTUAL, 'exists', 'not_exists'],
    degrades: false,
    needsBody: false,
    want: wantDnsRecord,
  },
  certificate_days: plain(NUMERIC, ({ observation: { certificate }, nowMs }) =>
    certificate ? String(Math.floor((Date.parse(certificate.validTo) - nowMs) / DAY_MS)) : null,
  ),
  'phase.dns': phase('dnsUs'),
  'phase.connect': phase('connectUs'),
  'phase.tls': phase('tlsUs'),
  'phase.first_byte': phase('firstByteUs'),
  'phase.transfer': phase('transferUs'),
}

function plain(operators: readonly OperatorName[], read: (seen: Seen) => Reading): Reader {
  return { operators, degrades: false, needsBody: false, want: value => ({ read, expected: value }) }
}

function duration(us: (seen: Seen) => number): Reader {
  const reader = plain(['less_than', 'greater_than'], seen => String(us(seen) / 1000))
  return { ...reader, degrades: true }
}

function phase(name: keyof Timings): Reader {
  return duration(({ observation }) => observation.timings[name])
}

const textOf = (number: number | null) => (number === null ? null : String(number))

function wantHeader(value: string, takesValue: boolean): Wanted | string {
  const colon = value.indexOf(':')
  const name = (colon === -1 ? value : value.slice(0, colon)).trim().toLowerCase()
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return `"${name}" is not the name of a header`
  if (takesValue && colon === -1) return 'write it as "Name: text"'
  if (!takesValue && colon !== -1) return 'write the name of the header only'
  return {
    read: ({ observation: { headers } }) => headers?.[name] ?? null,
    expected: takesValue ? value.slice(colon + 1).trim() : '',
  }
}

function wantJsonPath(value: string, takesValue: boolean): Wanted | string {
  const found = readJsonPath(value.trimStart())
  if (!found) return 'begin it with $'
  const { path, rest } = found
  if (takesValue && !rest.startsWith(':')) return 'write it as "$.path: text", like $.items[0].name: first'
  if (!takesValue && rest.trim() !== '') return 'write the path only, like $.items[0].name'
  return { read: seen => readJson(seen, path), expected: takesValue ? rest.slice(1).replace(/^ /, '') : '' }
}

function readJson(seen: Seen, path: JsonPath): Reading {
  const json = seen.json()
  if (!json) return { unreadable: 'the body is not JSON' }
  const value = atJsonPath(json.value, path)
  if (value === undefined) return null
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    return { unreadable: 'what stands there is nested too deeply' }
  }
}
