import type { Timings } from '../checks/result.ts'
import { parseDnsExpectation } from './dns-record.ts'
import { type JsonPath, parseJsonPath, resolveJsonPath } from './json-path.ts'
import { OPERATORS, type OperatorName } from './operators.ts'
import type { AssertionInput, AssertionReader, AssertionValue, Expectation } from './types.ts'

const NUMERIC: readonly OperatorName[] = ['equals', 'not_equals', 'less_than', 'greater_than']
const TEXTUAL: readonly OperatorName[] = ['equals', 'not_equals', 'contains', 'not_contains', 'matches', 'not_matches']
const ALL = Object.keys(OPERATORS) as OperatorName[]

const DAY_MS = 86_400_000

/** The assertion types (docs/design/checks.md#assertions). To add one, add a row. */
export const READERS: Record<string, AssertionReader> = {
  status_code: plain([...NUMERIC, 'matches', 'not_matches'], seen => toText(seen.observation.statusCode)),
  response_time: duration(seen => seen.observation.totalUs),
  header: { operators: ALL, degrades: false, needsBody: false, parseExpectation: parseHeaderExpectation },
  body: { ...plain(TEXTUAL, seen => seen.text()), needsBody: true },
  json_path: { operators: ALL, degrades: false, needsBody: true, parseExpectation: parseJsonPathExpectation },
  dns_record: {
    operators: [...TEXTUAL, 'exists', 'not_exists'],
    degrades: false,
    needsBody: false,
    parseExpectation: parseDnsExpectation,
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

function plain(operators: readonly OperatorName[], read: (seen: AssertionInput) => AssertionValue): AssertionReader {
  return { operators, degrades: false, needsBody: false, parseExpectation: value => ({ read, expected: value }) }
}

function duration(us: (seen: AssertionInput) => number): AssertionReader {
  const reader = plain(['less_than', 'greater_than'], seen => String(us(seen) / 1000))
  return { ...reader, degrades: true }
}

function phase(name: keyof Timings): AssertionReader {
  return duration(({ observation }) => observation.timings[name])
}

const toText = (number: number | null) => (number === null ? null : String(number))

function parseHeaderExpectation(value: string, takesValue: boolean): Expectation | string {
  const colon = value.indexOf(':')
  const name = (colon === -1 ? value : value.slice(0, colon)).trim().toLowerCase()
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return `"${name}" is not a valid header name`
  if (takesValue && colon === -1) return 'must be like "Name: text"'
  if (!takesValue && colon !== -1) return 'must be a header name only'
  return {
    read: ({ observation: { headers } }) => headers?.[name] ?? null,
    expected: takesValue ? value.slice(colon + 1).trim() : '',
  }
}

function parseJsonPathExpectation(value: string, takesValue: boolean): Expectation | string {
  const found = parseJsonPath(value.trimStart())
  if (!found) return 'must begin with $'
  const { path, rest } = found
  if (takesValue && !rest.startsWith(':')) return 'must be like "$.path: text", for example $.items[0].name: first'
  if (!takesValue && rest.trim() !== '') return 'must be a path only, for example $.items[0].name'
  return { read: seen => readJson(seen, path), expected: takesValue ? rest.slice(1).replace(/^ /, '') : '' }
}

function readJson(seen: AssertionInput, path: JsonPath): AssertionValue {
  const json = seen.json()
  if (!json) return { unreadable: 'the body is not JSON' }
  const value = resolveJsonPath(json.value, path)
  if (value === undefined) return null
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    return { unreadable: 'the value is nested too deeply' }
  }
}
