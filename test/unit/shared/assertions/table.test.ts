import type { X509Certificate } from 'node:crypto'
import t from 'tap'
import { evaluate } from '../../../../shared/assertions/evaluate.ts'
import { OPERATOR_NAMES } from '../../../../shared/assertions/names.ts'
import { READERS } from '../../../../shared/assertions/readers.ts'
import type { Observation } from '../../../../shared/checks/result.ts'

const NOW_MS = Date.UTC(2026, 7, 1)

const seen: Observation = {
  error: null,
  timings: { dnsUs: 10_000, connectUs: 10_000, tlsUs: 10_000, firstByteUs: 10_000, transferUs: 10_000 },
  totalUs: 10_000,
  statusCode: 204,
  headers: { age: '10', server: 'nginx' },
  body: Buffer.from('{"n":10,"s":"text"}'),
  resolvedIp: '127.0.0.1',
  certificate: { validTo: new Date(NOW_MS + 10.5 * 86_400_000).toUTCString() } as X509Certificate,
  dns: {
    rcode: 'NOERROR',
    server: '',
    records: [{ type: 'MX', name: 'a.example', ttlS: 60, value: '10 mail.example' }],
  },
}

/** A value that passes and one that fails, when the actual value is 10. */
type Values = [passes: string, fails: string]

const duration: Record<string, Values> = { less_than: ['10.001', '10'], greater_than: ['9.999', '10'] }

/** The supported operators of each type (docs/design/checks.md#assertions); all others are refused. */
const TABLE: Record<string, Record<string, Values>> = {
  status_code: {
    equals: ['2xx', '200'],
    not_equals: ['200-203', '200-299'],
    less_than: ['205', '204'],
    greater_than: ['203', '204'],
    matches: ['^20', '^30'],
    not_matches: ['^30', '^20'],
  },
  response_time: duration,
  header: {
    equals: ['Age: 10.0', 'Age: 1'],
    not_equals: ['Age: 1', 'Age: 10'],
    contains: ['Server: gin', 'Server: apache'],
    not_contains: ['Server: apache', 'Server: gin'],
    less_than: ['Age: 11', 'Age: 9'],
    greater_than: ['Age: 9', 'Age: 10'],
    matches: ['Server: ^n.*x$', 'Server: ^x'],
    not_matches: ['Server: ^x', 'Server: ^n'],
    exists: ['Server', 'Via'],
    not_exists: ['Via', 'Server'],
  },
  body: {
    equals: ['{"n":10,"s":"text"}', '{}'],
    not_equals: ['{}', '{"n":10,"s":"text"}'],
    contains: ['text', 'TEXT'],
    not_contains: ['TEXT', 'text'],
    matches: ['t.xt', '^t'],
    not_matches: ['^t', 't.xt'],
  },
  json_path: {
    equals: ['$.n: 10.0', '$.n: 1'],
    not_equals: ['$.n: 1', '$.n: 10'],
    contains: ['$.s: ex', '$.s: EX'],
    not_contains: ['$.s: EX', '$.s: ex'],
    less_than: ['$.n: 11', '$.n: 9'],
    greater_than: ['$.n: 9', '$.n: 10'],
    matches: ['$.s: ^t', '$.s: ^x'],
    not_matches: ['$.s: ^x', '$.s: ^t'],
    exists: ['$.n', '$.none'],
    not_exists: ['$.none', '$.n'],
  },
  dns_record: {
    equals: ['MX: 10 mail.example', 'MX: 20 mail.example'],
    not_equals: ['MX: 20 mail.example', 'MX: 10 mail.example'],
    contains: ['MX: mail', 'MX: other'],
    not_contains: ['MX: other', 'MX: mail'],
    matches: ['MX: ^10 ', 'MX: ^20 '],
    not_matches: ['MX: ^20 ', 'MX: ^10 '],
    exists: ['MX', 'TXT'],
    not_exists: ['TXT', 'MX'],
  },
  certificate_days: {
    equals: ['10', '9'],
    not_equals: ['9', '10'],
    less_than: ['11', '10'],
    greater_than: ['9', '10'],
  },
  'phase.dns': duration,
  'phase.connect': duration,
  'phase.tls': duration,
  'phase.first_byte': duration,
  'phase.transfer': duration,
}

t.test('Every assertion type has exactly its operators in this table', async t => {
  const known = Object.entries(READERS).map(([type, { operators }]) => [type, [...operators].sort()])
  t.same(
    Object.entries(TABLE).map(([type, row]) => [type, Object.keys(row).sort()]),
    known,
  )
})

for (const [type, row] of Object.entries(TABLE)) {
  t.test(`${type} passes and fails with each of its operators and refuses others`, async t => {
    for (const [operator, [passes, fails]] of Object.entries(row)) {
      const judged = (value: string) => evaluate([{ type, operator, value }], seen, NOW_MS)
      t.equal(judged(passes).verdict, 'passed', `${operator} ${passes}`)
      const isOfTime = type === 'response_time' || type.startsWith('phase.')
      t.equal(judged(fails).verdict, isOfTime ? 'degraded' : 'failed', `${operator} ${fails}`)
    }
    for (const operator of OPERATOR_NAMES.filter(name => !(name in row))) {
      t.throws(() => evaluate([{ type, operator, value: '10' }], seen, NOW_MS), /is not supported by/, operator)
    }
  })
}
