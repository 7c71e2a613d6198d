import type { X509Certificate } from 'node:crypto'
import t from 'tap'
import { evaluate, needsBody } from '../../../../shared/assertions/evaluate.ts'
import type { Observation } from '../../../../shared/checks/result.ts'
import { shortestMs } from '../../../support/shortest.ts'

const NOW_MS = Date.UTC(2026, 7, 1)

const observation: Observation = {
  error: null,
  timings: { dnsUs: 5000, connectUs: 20_000, tlsUs: 30_000, firstByteUs: 40_000, transferUs: 5000 },
  totalUs: 100_000,
  statusCode: 204,
  headers: { 'content-type': 'application/json; charset=utf-8', age: '10', server: 'nginx/1.2' },
  body: Buffer.from('{"ok":true,"n":9,"s":"text","none":null,"list":[{"id":"a b"}],"x y":1,"big":"10"}'),
  resolvedIp: '127.0.0.1',
  certificate: { validTo: new Date(NOW_MS + 10.5 * 86_400_000).toUTCString() } as X509Certificate,
}

type Row = [type: string, operator: string, value: string, passes: boolean]

const rows: Row[] = [
  ['status_code', 'equals', '204', true],
  ['status_code', 'equals', '200', false],
  ['status_code', 'equals', '2xx', true],
  ['status_code', 'equals', '2XX', true],
  ['status_code', 'equals', '3xx', false],
  ['status_code', 'equals', '200-299', true],
  ['status_code', 'equals', '205-299', false],
  ['status_code', 'not_equals', '5xx', true],
  ['status_code', 'not_equals', '2xx', false],
  ['status_code', 'less_than', '300', true],
  ['status_code', 'less_than', '204', false],
  ['status_code', 'greater_than', '204', false],
  ['status_code', 'greater_than', '99', true],
  ['status_code', 'matches', '^20[0-4]$', true],
  ['status_code', 'not_matches', '^5', true],
  ['response_time', 'less_than', '100.001', true],
  ['response_time', 'less_than', '100', false],
  ['response_time', 'greater_than', '100', false],
  ['response_time', 'less_than', '1000', true],
  ['phase.dns', 'less_than', '6', true],
  ['phase.connect', 'less_than', '20', false],
  ['phase.tls', 'greater_than', '29.9', true],
  ['phase.first_byte', 'less_than', '9', false],
  ['phase.transfer', 'less_than', '5.5', true],
  ['header', 'equals', 'AGE: 10.0', true],
  ['header', 'equals', 'Age:10', true],
  ['header', 'not_equals', 'Age: 10', false],
  ['header', 'less_than', 'Age: 9', false],
  ['header', 'greater_than', 'Age: 9', true],
  ['header', 'greater_than', 'Server: 9', false],
  ['header', 'less_than', 'Server: 9', false],
  ['header', 'contains', 'Content-Type: json', true],
  ['header', 'not_contains', 'Server: apache', true],
  ['header', 'matches', 'Server: ^nginx', true],
  ['header', 'exists', 'Server', true],
  ['header', 'exists', 'X-None', false],
  ['header', 'not_exists', 'X-None', true],
  ['header', 'exists', '__proto__', false],
  ['header', 'equals', 'X-None: ', false],
  ['header', 'not_contains', 'X-None: a', true],
  ['body', 'contains', '"ok":true', true],
  ['body', 'not_contains', 'error', true],
  ['body', 'equals', 'ok', false],
  ['body', 'matches', '"n":\\d', true],
  ['body', 'not_matches', '(?i)OK', false],
  ['json_path', 'equals', '$.ok: true', true],
  ['json_path', 'equals', '$.n: 9.0', true],
  ['json_path', 'less_than', '$.n: 10', true],
  ['json_path', 'less_than', '$.big: 9', false],
  ['json_path', 'greater_than', '$.big: 9', true],
  ['json_path', 'equals', '$.s: text', true],
  ['json_path', 'equals', '$.none: null', true],
  ['json_path', 'equals', "$.list[0]['id']: a b", true],
  ['json_path', 'equals', '$["x y"]: 1', true],
  ['json_path', 'contains', '$.list: "id"', true],
  ['json_path', 'exists', '$.none', true],
  ['json_path', 'exists', '$.list[1]', false],
  ['json_path', 'not_exists', '$.list[1].id', true],
  ['json_path', 'not_exists', '$.__proto__', true],
  ['json_path', 'not_exists', '$.constructor.name', true],
  ['json_path', 'not_exists', '$.s.length', true],
  ['json_path', 'not_exists', '$.list.length', true],
  ['json_path', 'exists', '$', true],
  ['certificate_days', 'greater_than', '9', true],
  ['certificate_days', 'greater_than', '10', false],
  ['certificate_days', 'equals', '10', true],
  ['dns_record', 'exists', '', false],
]

t.test('An assertion passes or fails by the observation', async t => {
  for (const [type, operator, value, passes] of rows) {
    const { failed } = evaluate([{ type, operator, value }], observation, NOW_MS)
    t.equal(failed.length === 0, passes, `${type} ${operator} ${value}`)
  }
})

t.test('A slow answer is degraded, and any other failed assertion is down', async t => {
  const slow = { type: 'response_time', operator: 'less_than', value: '50' }
  const phase = { type: 'phase.tls', operator: 'less_than', value: '1' }
  const status = { type: 'status_code', operator: 'equals', value: '200' }
  const fine = { type: 'body', operator: 'contains', value: 'ok' }
  const computeVerdict = (...assertions: (typeof slow)[]) => evaluate(assertions, observation, NOW_MS).verdict
  t.equal(computeVerdict(), 'passed')
  t.equal(computeVerdict(fine), 'passed')
  t.equal(computeVerdict(fine, slow), 'degraded')
  t.equal(computeVerdict(phase), 'degraded')
  t.equal(computeVerdict(slow, status), 'failed')
  t.equal(computeVerdict(status, slow), 'failed')
})

t.test('A failed assertion contains the actual value, at most 200 characters', async t => {
  const { failed } = evaluate(
    [
      { type: 'response_time', operator: 'less_than', value: '100' },
      { type: 'header', operator: 'exists', value: 'X-None' },
      { type: 'body', operator: 'equals', value: 'ok' },
    ],
    { ...observation, body: Buffer.from('é'.repeat(500)) },
    NOW_MS,
  )
  t.same(
    failed.map(({ actual }) => actual),
    ['100', '(missing)', 'é'.repeat(200)],
  )
})

t.test('A body that is not JSON fails every json_path assertion, even a negative one', async t => {
  const bodies = [Buffer.from('<html>'), Buffer.from(''), null]
  for (const body of bodies) {
    for (const operator of ['exists', 'not_exists']) {
      const { failed } = evaluate([{ type: 'json_path', operator, value: '$.a' }], { ...observation, body }, NOW_MS)
      t.equal(failed[0]?.actual, '(the body is not JSON)')
    }
  }
})

t.test('A document with ten thousand levels is read or refused quickly', async t => {
  const deep = Buffer.from(`{"a":${'['.repeat(10_000)}${']'.repeat(10_000)},"b":1}`)
  const computeVerdict = (value: string, operator: string) =>
    evaluate([{ type: 'json_path', operator, value }], { ...observation, body: deep }, NOW_MS).verdict
  t.equal(computeVerdict('$.b: 1', 'equals'), 'passed')
  t.equal(computeVerdict('$.a: 1', 'equals'), 'failed')
  t.equal(computeVerdict(`$.a${'[0]'.repeat(9990)}`, 'exists'), 'passed')
})

t.test('An expression with exponential backtracking elsewhere takes time like other expressions', async t => {
  const bomb = { ...observation, body: Buffer.from(`${'a'.repeat(1024 * 1024)}!`) }
  const measure = (value: string) =>
    shortestMs(() => evaluate([{ type: 'body', operator: 'matches', value }], bomb, NOW_MS), 3)
  const ordinaryMs = measure('[ab]*[bc]d')
  for (const value of ['(a+)+$', '(a|aa)+$', '(.*a){40}[^a!]', '(?i)(a?){300}b[cd]']) {
    const ms = measure(value)
    t.ok(ms < 1_000 * ordinaryMs, `${value}: ${ms.toFixed(1)} ms, an ordinary one ${ordinaryMs.toFixed(1)} ms`)
  }
})

t.test('The body is needed only when an assertion reads it', async t => {
  const of = (type: string) => needsBody([{ type, operator: 'exists', value: '' }])
  t.same(['body', 'json_path', 'header', 'status_code', 'unknown'].map(of), [true, true, false, false, false])
})
