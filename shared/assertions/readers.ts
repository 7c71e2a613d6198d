import { parseDnsExpectation } from './dns-record.ts'
import { type JsonPath, parseJsonPath, resolveJsonPath } from './json-path.ts'
import { ASSERTION_OPERATORS, type AssertionType } from './names.ts'
import type { AssertionInput, AssertionReader, AssertionValue, Expectation } from './types.ts'

const DAY_MS = 86_400_000

/** The assertion types (docs/design/checks.md#assertions). To add one, add a row here and its operators to ASSERTION_OPERATORS. */
export const READERS: Record<string, AssertionReader> = {
  status_code: plain('status_code', seen => toText(seen.observation.statusCode)),
  response_time: duration('response_time', seen => seen.observation.totalUs),
  header: {
    operators: ASSERTION_OPERATORS.header,
    degrades: false,
    needsBody: false,
    parseExpectation: parseHeaderExpectation,
  },
  body: { ...plain('body', seen => seen.text()), needsBody: true },
  json_path: {
    operators: ASSERTION_OPERATORS.json_path,
    degrades: false,
    needsBody: true,
    parseExpectation: parseJsonPathExpectation,
  },
  dns_record: {
    operators: ASSERTION_OPERATORS.dns_record,
    degrades: false,
    needsBody: false,
    parseExpectation: parseDnsExpectation,
  },
  certificate_days: plain('certificate_days', ({ observation: { certificate }, nowMs }) =>
    certificate ? String(Math.floor((Date.parse(certificate.validTo) - nowMs) / DAY_MS)) : null,
  ),
  'phase.dns': duration('phase.dns', seen => seen.observation.timings.dnsUs),
  'phase.connect': duration('phase.connect', seen => seen.observation.timings.connectUs),
  'phase.tls': duration('phase.tls', seen => seen.observation.timings.tlsUs),
  'phase.first_byte': duration('phase.first_byte', seen => seen.observation.timings.firstByteUs),
  'phase.transfer': duration('phase.transfer', seen => seen.observation.timings.transferUs),
} satisfies Record<AssertionType, AssertionReader>

function plain(type: AssertionType, read: (seen: AssertionInput) => AssertionValue): AssertionReader {
  const operators = ASSERTION_OPERATORS[type]
  return { operators, degrades: false, needsBody: false, parseExpectation: value => ({ read, expected: value }) }
}

function duration(type: AssertionType, us: (seen: AssertionInput) => number): AssertionReader {
  const reader = plain(type, seen => String(us(seen) / 1000))
  return { ...reader, degrades: true }
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
