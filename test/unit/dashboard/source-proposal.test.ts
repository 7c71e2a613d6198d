import t from 'tap'
import { proposeFields } from '../../../control-plane/dashboard/screens/integrations/sources/document/proposal.ts'
import {
  formatRuleValue,
  parseRuleValue,
} from '../../../control-plane/dashboard/screens/integrations/sources/document/rule-value.ts'
import { collectMatches, evaluate } from '../../../control-plane/integrations/data-sources/evaluation/evaluate.ts'

const NOW = Date.parse('2026-11-21T14:00:00Z')
const DOCUMENT = {
  version: '4.2.1',
  maintenance: false,
  services: {
    web: { status: 'ok', latency_ms: 12, healthy: true, http: 200 },
    api: { status: 'slow', latency_ms: 70, healthy: true, http: 503 },
    mail: { status: 'failing', latency_ms: 0, healthy: false, http: 200 },
  },
  regions: {
    eu: { queues: { mail: { state: 'running' }, jobs: { state: 'paused' } } },
    us: { queues: { mail: { state: 'running' } } },
  },
  checks: [{ ok: true }, { ok: false }],
  flags: { search: true, 'check.out': false },
  backup: { last_run: '2026-11-21T13:10:00Z', errors: 0, report: 'https://backup.example.com/', log: 'x'.repeat(300) },
  queue: { size: 12, note: null },
}

const propose = (...steps: (string | number)[]) => {
  const found = proposeFields(DOCUMENT, steps, NOW)
  if ('problem' in found) throw new Error(found.problem)
  return found.candidates
}

const SERVICES = { path: 'services.*.status', name_template: '{{key}}' }
const CASES: [string, (string | number)[], object][] = [
  [
    'a word for what works, with one for what works partly',
    ['services', 'web', 'status'],
    { ...SERVICES, rule_type: 'equals', rule_config: { value: 'ok' }, degraded_rule_config: { value: 'slow' } },
  ],
  [
    'a failing service: the others say which word means up',
    ['services', 'mail', 'status'],
    { ...SERVICES, rule_type: 'equals', rule_config: { value: 'ok' }, degraded_rule_config: { value: 'slow' } },
  ],
  [
    'a number',
    ['services', 'web', 'latency_ms'],
    { path: 'services.*.latency_ms', name_template: '{{key}} latency ms', rule_type: 'truthy' },
  ],
  ['a flag that is false for one', ['services', 'mail', 'healthy'], { rule_type: 'truthy', name_template: '{{key}}' }],
  ['a status code', ['services', 'api', 'http'], { path: 'services.*.http', rule_type: 'http_ok' }],
  [
    'two levels of entries',
    ['regions', 'eu', 'queues', 'mail', 'state'],
    { path: 'regions.*.queues.*.state', name_template: '{{key.1}} {{key.2}}', rule_config: { value: 'running' } },
  ],
  [
    'elements of a list',
    ['checks', 1, 'ok'],
    { path: 'checks[*].ok', name_template: 'Check {{key}}', rule_type: 'truthy' },
  ],
  [
    'values next to each other',
    ['flags', 'check.out'],
    { path: 'flags.*', name_template: '{{key}}', rule_type: 'truthy' },
  ],
  [
    'a time',
    ['backup', 'last_run'],
    { rule_type: 'diff_lte', rule_config: { other_path: 'now', max: 21_600 }, name_template: 'backup last run' },
  ],
  ['an address', ['backup', 'report'], { path: 'backup.report', rule_type: 'http_ok' }],
  ['a long text', ['backup', 'log'], { rule_type: 'truthy' }],
  [
    'nothing wrong yet',
    ['backup', 'errors'],
    { path: 'backup.errors', rule_type: 'equals', rule_config: { value: 0 } },
  ],
  ['a single text', ['version'], { path: 'version', name_template: 'version', rule_config: { value: '4.2.1' } }],
  ['a flag that is off', ['maintenance'], { rule_type: 'equals', rule_config: { value: false } }],
  ['null', ['queue', 'note'], { path: 'queue.note', name_template: 'queue note', rule_type: 'truthy' }],
]

t.test('A click on a value proposes a path, a name and a rule', async t => {
  for (const [name, steps, expected] of CASES) t.match(propose(...steps)[0]!.field, expected, name)
})

t.test('The proposals say how many monitors each makes, and end with the value alone', async t => {
  const shown = (...steps: (string | number)[]) => propose(...steps).map(({ label, count }) => `${label}: ${count}`)
  t.same(shown('services', 'web', 'status'), ['Every service: 3', 'Only services.web.status: 1'])
  t.same(shown('regions', 'eu', 'queues', 'mail', 'state'), [
    'Every queue of every region: 3',
    'Every queue: 2',
    'Every region: 2',
    'Only regions.eu.queues.mail.state: 1',
  ])
  t.same(shown('flags', 'search'), ['Every flag: 2', 'Only flags.search: 1'])
  t.same(propose('services', 'mail', 'status').at(-1)!.field.rule_config, { value: 'ok' }, 'alone, it is judged alike')
  t.same(shown('version'), ['Only version: 1'])
})

t.test('Each proposal makes the number of monitors that it says, and the clicked value is one of them', async t => {
  for (const [name, steps] of CASES) {
    for (const { field, count } of propose(...steps)) {
      const { rule_type: ruleType, rule_config: ruleConfig, degraded_rule_config: degradedRuleConfig } = field
      const definition = {
        ...field,
        nameTemplate: field.name_template,
        ruleType,
        ruleConfig,
        degradedRuleConfig,
        id: 'f',
      }
      t.equal(
        evaluate(DOCUMENT, collectMatches(DOCUMENT, [definition]), new Date(NOW), new Map()).children.length,
        count,
        `${name}: ${field.path}`,
      )
    }
  }
})

t.test('Values at the top of a document, in large lists and with unusual keys have proposals', async t => {
  const first = (root: unknown, steps: (string | number)[]) => {
    const found = proposeFields(root, steps, NOW)
    return 'problem' in found ? found.problem : `${found.candidates[0]!.label} ${found.candidates[0]!.field.path}`
  }
  t.equal(first('ok', []), 'Only $ $')
  t.equal(first(['ok', 'ok'], [1]), 'Every entry [*]')
  t.equal(
    first({ '{{a}}"b': { status: 'ok' } }, ['{{a}}"b', 'status']),
    String.raw`Only ["{{a}}\"b"].status ["{{a}}\"b"].status`,
  )
  const many = { services: Array.from({ length: 300 }, () => ({ status: 'ok' })) }
  t.equal(
    first(many, ['services', 7, 'status']),
    'Only services[7].status services[7].status',
    'more than 200 is not first',
  )
  const deep = Array.from({ length: 40 }, () => 'a')
  t.match(
    first(
      deep.reduceRight<unknown>((value, key) => ({ [key]: value }), 'ok'),
      deep,
    ),
    /must have at most 32 steps/,
  )
  t.match(propose('version')[0]!.field.name_template, /^[^{}]+$/)
})

t.test('Values of rules keep their type when they are typed', async t => {
  for (const value of [
    'ok',
    'all good',
    '',
    ' ok',
    '200',
    200,
    1.5,
    true,
    'true',
    null,
    'null',
    [1],
    { a: 'b' },
    'a\nb',
    '"q"',
  ])
    t.same(parseRuleValue(formatRuleValue(value)), value, JSON.stringify(value))
  t.equal(formatRuleValue('ok'), 'ok')
  t.equal(formatRuleValue('200'), '"200"')
  t.equal(parseRuleValue(' ok '), 'ok')
})
