import fc from 'fast-check'
import t from 'tap'
import { compileField } from '../../../../control-plane/integrations/data-sources/evaluation/compiled-field.ts'
import {
  type ChildOutcome,
  collectMatches,
  evaluate,
  listUrlsToCheck,
} from '../../../../control-plane/integrations/data-sources/evaluation/evaluate.ts'
import { RULE_TYPES, type RuleType } from '../../../../control-plane/integrations/data-sources/types.ts'

const NOW = new Date('2026-08-01T12:00:00Z')

type Config = Record<string, unknown>
const buildField = (
  ruleType: RuleType,
  ruleConfig: Config,
  degradedRuleConfig: Config | null = null,
  path = 'value',
) => ({
  id: ruleType,
  path,
  nameTemplate: '{{key}}',
  ruleType,
  ruleConfig,
  degradedRuleConfig,
})

const ANSWERS = new Map([
  ['https://up.example.com/', { isOk: true, message: 'responds with 200' }],
  ['https://down.example.com/', { isOk: false, message: 'responds with 503' }],
  ['http://10.0.0.1/', { isOk: null, message: 'could not be requested: blocked_target' }],
])

function judged(value: unknown, ruleType: RuleType, config: Config, degraded: Config | null = null, more: object = {}) {
  const field = buildField(ruleType, config, degraded)
  const document = { value, ...more }
  const [child] = evaluate(document, collectMatches(document, [field]), NOW, ANSWERS).children
  return { outcome: child?.outcome, reason: child?.reason }
}

t.test('equals compares value and type, also of lists and objects', async t => {
  const cases: [unknown, unknown, ChildOutcome][] = [
    ['ok', 'ok', 'up'],
    ['OK', 'ok', 'down'],
    [200, 200, 'up'],
    ['200', 200, 'down'],
    [0, false, 'down'],
    [null, null, 'up'],
    [false, null, 'down'],
    [[], [], 'up'],
    [['alarm'], [], 'down'],
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }, 'up'],
    [JSON.parse('{ "__proto__": 1 }'), {}, 'down'],
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, 'up'],
    [{ a: 1 }, { a: 1, b: 1 }, 'down'],
    [[1, 2], [12], 'down'],
    [['1,2'], [1, 2], 'down'],
    [{ a: '1' }, { a: 1 }, 'down'],
    [JSON.parse('[-0]'), [0], 'up'],
    [JSON.parse('[1e999]'), [null], 'down'],
    ['null', null, 'down'],
    [
      JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`),
      JSON.parse(`${'['.repeat(1_200)}${']'.repeat(1_200)}`),
      'down',
    ],
  ]
  for (const [value, expected, outcome] of cases) {
    t.equal(judged(value, 'equals', { value: expected }).outcome, outcome, JSON.stringify(value))
  }
  t.match(judged('failing', 'equals', { value: 'ok' }), { reason: 'value is "failing", expected "ok"' })
  t.match(judged('200', 'equals', { value: 200 }), { reason: 'value is "200", expected 200' })
})

t.test('A value that only degraded_rule_config allows is degraded', async t => {
  t.match(judged('slow', 'equals', { value: 'ok' }, { value: 'slow' }), {
    outcome: 'degraded',
    reason: 'value is "slow", expected "ok"; it counts as degraded',
  })
  t.equal(judged('gone', 'equals', { value: 'ok' }, { value: 'slow' }).outcome, 'down')
  t.equal(judged('ok', 'equals', { value: 'ok' }, { value: 'ok' }).outcome, 'up')
  t.equal(
    judged(90, 'diff_lte', { other_path: 'zero', max: 50 }, { other_path: 'zero', max: 100 }, { zero: 0 }).outcome,
    'degraded',
  )
})

t.test('A value is read once, however many values its rule accepts', async t => {
  for (const accepted of [{}, { a: {} }, { b: 1 }]) {
    let reads = 0
    const value = new Proxy(
      { a: 1, b: 2, c: 3 },
      {
        ownKeys(keys) {
          reads++
          return Reflect.ownKeys(keys)
        },
      },
    )
    t.equal(judged(value, 'in', { values: Array(1_000).fill(accepted) }).outcome, 'down')
    t.equal(reads, 1)
  }
})

t.test('in accepts one of several values', async t => {
  t.equal(judged('idle', 'in', { values: ['running', 'idle'] }).outcome, 'up')
  t.match(judged('x', 'in', { values: [1, 2, 3, 4, 5, 6, 7] }), {
    outcome: 'down',
    reason: 'value is "x", expected one of 1, 2, 3, 4, 5 and 2 more',
  })
})

t.test('truthy accepts all values except false, 0, null and the empty text', async t => {
  for (const value of [true, 1, -1, 'no', [], {}])
    t.equal(judged(value, 'truthy', {}).outcome, 'up', JSON.stringify(value))
  for (const value of [false, 0, null, '']) t.equal(judged(value, 'truthy', {}).outcome, 'down', JSON.stringify(value))
})

t.test('diff_lte compares numbers, and times in seconds, in either direction', async t => {
  const cases: [unknown, unknown, number, ChildOutcome][] = [
    [10, 15, 5, 'up'],
    [15, 10, 5, 'up'],
    [10, 15.1, 5, 'down'],
    ['10', 12, 2, 'up'],
    [0.3, 0.1, 0.2, 'up'],
    ['2026-08-01T11:59:00Z', '2026-08-01T12:00:00Z', 60, 'up'],
    ['2026-08-01T13:59:00+02:00', '2026-08-01T12:00:00.5Z', 60, 'down'],
    ['2026-08-01 11:59:30', '2026-08-01T12:00:00+0000', 30, 'up'],
    ['2026-08-01', '2026-08-02', 86_400, 'up'],
    [1_785_585_600, '2026-08-01T12:00:00Z', 0, 'up'],
    [1_785_585_600_000, '2026-08-01T12:00:00Z', 0, 'up'],
    ['soon', 5, 10, 'down'],
    [null, 5, 10, 'down'],
    ['2026-02-31T00:00:00Z', '2026-08-01', 1e9, 'down'],
  ]
  for (const [value, other, max, outcome] of cases) {
    t.equal(
      judged(value, 'diff_lte', { other_path: 'other', max }, null, { other }).outcome,
      outcome,
      `${value} ${other}`,
    )
  }
})

t.test('diff_lte compares with the present for "now", and with a key of that name for "$.now"', async t => {
  const config = { other_path: 'now', max: 60 }
  t.match(judged('2026-08-01T11:58:25Z', 'diff_lte', config), {
    outcome: 'down',
    reason: 'value is "2026-08-01T11:58:25Z", 95 s away from now, at most 60 s allowed',
  })
  t.equal(judged(NOW.getTime() / 1_000 - 59, 'diff_lte', config).outcome, 'up')
  t.equal(judged(NOW.getTime() - 59_000, 'diff_lte', config).outcome, 'up')
  t.equal(judged(5, 'diff_lte', { other_path: '$.now', max: 1 }, null, { now: 5 }).outcome, 'up')
})

t.test('A value without anything to compare with, and a URL that was not requested, are unknown', async t => {
  t.match(judged(5, 'diff_lte', { other_path: 'other', max: 1 }), {
    outcome: 'unknown',
    reason: 'value cannot be compared: other does not exist',
  })
  t.equal(judged(5, 'diff_lte', { other_path: 'other', max: 1 }, null, { other: 'n/a' }).outcome, 'unknown')
  t.equal(judged('http://10.0.0.1/', 'http_ok', {}).outcome, 'unknown')
  t.equal(judged('http://other.example.com/', 'http_ok', {}).outcome, 'unknown')
})

t.test('Wildcards of other_path are replaced by what those of path matched', async t => {
  const document = { used: { a: [5, 90], b: [1] }, limit: { a: [10, 50], b: [3] } }
  const field = buildField('diff_lte', { other_path: 'limit.*[*]', max: 10 }, null, 'used.*[*]')
  const { children } = evaluate(document, collectMatches(document, [field]), NOW, ANSWERS)
  t.same(
    children.map(({ key, outcome }) => [key, outcome]),
    [
      ['a.0', 'up'],
      ['a.1', 'down'],
      ['b.0', 'up'],
    ],
  )
  t.equal(children[1]?.reason, 'used.a[1] is 90, 40 away from limit.a[1], at most 10 allowed')
})

t.test('http_ok accepts a status code, or a URL that responds with one', async t => {
  const cases: [unknown, ChildOutcome][] = [
    [200, 'up'],
    [399, 'up'],
    [400, 'down'],
    [199, 'down'],
    ['204', 'up'],
    ['fine', 'down'],
    [200.5, 'down'],
    [[200], 'down'],
    [{ toString: null }, 'down'],
    [true, 'down'],
    ['ftp://up.example.com/', 'down'],
    ['http://[', 'down'],
    ['http://up.example.com:99999/', 'down'],
    ['https://up.example.com/', 'up'],
    ['https://down.example.com/', 'down'],
  ]
  for (const [value, outcome] of cases) t.equal(judged(value, 'http_ok', {}).outcome, outcome, JSON.stringify(value))
  t.equal(
    judged('https://down.example.com/', 'http_ok', {}).reason,
    'value is https://down.example.com/, which responds with 503',
  )
})

t.test('Only URLs of http_ok fields are requested, each of them once', async t => {
  const document = { a: { url: 'https://x.example.com/' }, b: { url: 'https://x.example.com/' }, c: { url: 503 } }
  const fields = [buildField('http_ok', {}, null, '*.url'), buildField('truthy', {}, null, 'a.url')]
  t.same(listUrlsToCheck(collectMatches(document, fields)), ['https://x.example.com/'])
  t.same(listUrlsToCheck(collectMatches(document, [buildField('truthy', {}, null, '*.url')])), [])
  const broken = { a: { url: 'http://[' }, b: { url: 'http://%' }, c: { url: 'http://x:99999/' } }
  t.same(listUrlsToCheck(collectMatches(broken, fields)), [], 'an invalid URL is not requested')
})

t.test('An invalid rule configuration is refused at its path', async t => {
  const cases: [RuleType, Config, string][] = [
    ['equals', {}, 'rule_config.value is required for the rule equals'],
    ['equals', { value: 'x'.repeat(10_001) }, 'rule_config.value must have at most 10000 characters'],
    ['in', {}, 'rule_config.values is required for the rule in'],
    ['in', { values: 'ok' }, 'rule_config.values must be an array of at least 1 item'],
    ['in', { values: [] }, 'rule_config.values must be an array of at least 1 item'],
    ['in', { values: Array(1_001).fill(1) }, 'rule_config.values must have at most 1000 items'],
    ['diff_lte', { max: 1 }, 'rule_config.other_path is required for the rule diff_lte; it may be "now"'],
    ['diff_lte', { other_path: 5, max: 1 }, 'rule_config.other_path must be a string'],
    ['diff_lte', { other_path: 'a..b', max: 1 }, 'rule_config.other_path is invalid at character 2'],
    ['diff_lte', { other_path: '*', max: 1 }, 'rule_config.other_path must not have more wildcards than path'],
    ['diff_lte', { other_path: 'now' }, 'rule_config.max is required for the rule diff_lte'],
    ['diff_lte', { other_path: 'now', max: '5' }, 'rule_config.max must be a number of at least 0'],
    ['diff_lte', { other_path: 'now', max: -1 }, 'rule_config.max must be a number of at least 0'],
  ]
  for (const [ruleType, config, message] of cases) {
    const compiled = compileField(buildField(ruleType, config))
    const [problem] = 'problems' in compiled ? compiled.problems : []
    t.ok(problem?.message.startsWith(message), `${problem?.message} ~ ${message}`)
    t.ok(message.startsWith(problem?.path ?? 'nowhere'))
  }
  t.match(compileField(buildField('equals', { value: 1 }, {})), { problems: [{ path: 'degraded_rule_config.value' }] })
})

t.test('Any configuration on any document gives an outcome with a reason', async () => {
  const config = fc.dictionary(fc.constantFrom('value', 'values', 'other_path', 'max', 'x'), fc.jsonValue())
  const field = fc.record({
    id: fc.constant('f'),
    path: fc.constantFrom('*', '*.*', '$', 'a', 'a[*]', '*.a.*'),
    nameTemplate: fc.constantFrom('{{key}}', '{{value}} {{key}}', 'x'),
    ruleType: fc.constantFrom(...RULE_TYPES),
    ruleConfig: config,
    degradedRuleConfig: fc.option(config),
  })
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.array(field, { maxLength: 5 }), (document, fields) => {
      const collected = collectMatches(document, fields)
      listUrlsToCheck(collected)
      const { children } = evaluate(document, collected, NOW, ANSWERS)
      return children.every(({ name, reason }) => name !== '' && name.length <= 200 && reason !== '')
    }),
    { numRuns: 500 },
  )
})
