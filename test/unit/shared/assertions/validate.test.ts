import t from 'tap'
import { validateAssertion } from '../../../../shared/assertions/evaluate.ts'
import { OPERATOR_NAMES } from '../../../../shared/assertions/names.ts'
import { READERS } from '../../../../shared/assertions/readers.ts'

const rows: [type: string, operator: string, value: string, problem: RegExp | null][] = [
  ['status_code', 'equals', '200', null],
  ['status_code', 'equals', '2xx', null],
  ['status_code', 'equals', '200-299', null],
  ['status_code', 'equals', '200 - 299', null],
  ['status_code', 'equals', '299-200', /use a form like 200, 2xx or 200-299/],
  ['status_code', 'equals', '6xx', /not a status code/],
  ['status_code', 'equals', 'OK', /not a status code/],
  ['status_code', 'equals', '20', /not a status code/],
  ['status_code', 'less_than', '2xx', /"2xx" is not a number/],
  [
    'status_code',
    'contains',
    '2',
    /contains is not supported by status_code; use one of equals, not_equals, less_than/,
  ],
  ['response_time', 'less_than', '500', null],
  ['response_time', 'less_than', '0.5', null],
  ['response_time', 'less_than', '500ms', /not a number/],
  ['response_time', 'less_than', '', /not a number/],
  ['response_time', 'equals', '500', /use one of less_than, greater_than/],
  ['phase.dns', 'less_than', '50', null],
  ['phase.dns', 'matches', '5', /is not supported by phase\.dns/],
  ['phase.nonsense', 'less_than', '50', /"phase\.nonsense" is not an assertion type/],
  ['certificate_days', 'greater_than', '14', null],
  ['certificate_days', 'greater_than', 'soon', /not a number/],
  ['header', 'equals', 'Server: nginx', null],
  ['header', 'equals', 'Server', /must be like "Name: text"/],
  ['header', 'exists', 'Server', null],
  ['header', 'exists', 'Server: nginx', /a header name only/],
  ['header', 'exists', 'a b', /not a valid header name/],
  ['header', 'equals', ': x', /not a valid header name/],
  ['header', 'less_than', 'Age: ten', /not a number/],
  ['header', 'matches', 'Server: (', /missing closing \)/],
  ['body', 'contains', 'ok', null],
  ['body', 'matches', '^ok$', null],
  ['body', 'matches', '(?=ok)', /invalid or unsupported/],
  ['body', 'matches', '(ok)\\1', /invalid escape/],
  ['body', 'matches', 'a'.repeat(1001), /longer than 1000/],
  ['body', 'matches', '(abc){900}', /too large/],
  ['body', 'less_than', '5', /is not supported by body/],
  ['body', 'exists', '', /is not supported by body/],
  ['json_path', 'equals', '$.a.b[0]: x', null],
  ['json_path', 'equals', "$['a: b']: x", null],
  ['json_path', 'equals', '$.a', /must be like "\$\.path: text"/],
  ['json_path', 'equals', 'a.b: x', /must begin with \$/],
  ['json_path', 'exists', '$.a.b', null],
  ['json_path', 'exists', '$.a[*]', /must be a path only/],
  ['json_path', 'exists', '$.a: x', /must be a path only/],
  ['json_path', 'exists', '$..a', /must be a path only/],
  ['json_path', 'less_than', '$.n: x', /not a number/],
  ['dns_record', 'contains', '10.0.0.1', null],
  ['dns_record', 'equals', 'MX: 10 mail.example.com', null],
  ['dns_record', 'equals', 'MX:', /must be like "MX: 10 mail\.example\.com"/],
  ['dns_record', 'matches', 'TXT: (', /missing closing \)/],
  ['dns_record', 'exists', 'MX', null],
  ['dns_record', 'exists', '', null],
  ['dns_record', 'exists', 'PTR', /one of A, AAAA/],
  ['dns_record', 'exists', 'MX: 10', /one of A, AAAA/],
  ['dns_record', 'less_than', '5', /is not supported by dns_record/],
  ['toString', 'equals', 'x', /not an assertion type; use one of status_code, response_time/],
  ['__proto__', 'equals', 'x', /not an assertion type/],
  ['body', 'constructor', 'x', /"constructor" is not an operator; use one of equals/],
  ['body', '', 'x', /not an operator/],
]

t.test('An invalid assertion is refused with the accepted values', async t => {
  for (const [type, operator, value, problem] of rows) {
    const found = validateAssertion({ type, operator, value })
    if (problem === null) t.equal(found, null, `${type} ${operator} ${value}`)
    else t.match(found, problem, `${type} ${operator} ${value.slice(0, 40)}`)
  }
})

t.test('Every combination of type and operator is accepted or refused', async t => {
  const sample: Record<string, string> = { header: 'A: 1', json_path: '$.a: 1', dns_record: 'A: 1' }
  for (const [type, { operators }] of Object.entries(READERS)) {
    for (const operator of OPERATOR_NAMES) {
      const bare = operator.endsWith('exists')
      const value = (bare ? sample[type]?.split(':')[0] : sample[type]) ?? '200'
      const problem = validateAssertion({ type, operator, value })
      t.equal(problem === null, operators.includes(operator), `${type} ${operator}: ${problem}`)
    }
  }
})
