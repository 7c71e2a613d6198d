import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseCondition } from '../../../../control-plane/integrations/import-export/converters/gatus/conditions.ts'
import { convertGatus } from '../../../../control-plane/integrations/import-export/converters/gatus/convert.ts'
import { parseDurationMs } from '../../../../control-plane/integrations/import-export/converters/gatus/duration.ts'
import { parseYaml } from '../../../../control-plane/integrations/import-export/file/yaml.ts'
import { evaluate, validateAssertion } from '../../../../shared/assertions/evaluate.ts'
import type { Observation } from '../../../../shared/checks/result.ts'

const fixture = (name: string) => parseYaml(readFileSync(join(import.meta.dirname, '../../../fixtures/exchange', name)))

t.test('Durations of Go are parsed', async t => {
  const rows: [unknown, number | null][] = [
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['5', null],
    ['5 s', null],
    ['', null],
    [60, null],
  ]
  for (const [text, ms] of rows) t.equal(parseDurationMs(text), ms, String(text))
})

t.test('A condition becomes an equivalent assertion, or has a note with the reason', async t => {
  const rows: [string, string | null][] = [
    ['[STATUS] == 200', 'status_code equals 200'],
    ['[STATUS] != 500', 'status_code not_equals 500'],
    ['[STATUS] < 300', 'status_code less_than 300'],
    ['[STATUS] <= 299', 'status_code less_than 300'],
    ['200 <= [STATUS]', 'status_code greater_than 199'],
    ['[STATUS] == any(200, 429)', 'status_code matches ^(200|429)$'],
    ['[STATUS] != any(500, 503)', 'status_code not_matches ^(500|503)$'],
    ['[STATUS] == pat(2*)', 'status_code matches ^(?s:2.*)$'],
    ['[STATUS] != pat(5*)', 'status_code not_matches ^(?s:5.*)$'],
    ['[STATUS] == ok', null],
    ['[STATUS] < any(500)', null],
    ['[status] == 200', 'status_code equals 200'],
    ['[RESPONSE_TIME] < 300', 'response_time less_than 300'],
    ['[RESPONSE_TIME] < 1s', 'response_time less_than 1000'],
    ['[BODY] == pong', 'body matches ^\\s*(?:pong)\\s*$'],
    ['[BODY] != any(a.b, c)', 'body not_matches ^\\s*(?:(a\\.b|c))\\s*$'],
    ['[BODY] != pat(*error*)', 'body not_matches ^\\s*(?:(?s:.*error.*))\\s*$'],
    ['[BODY].status == UP', 'json_path equals $.status: UP'],
    ['[BODY].data[0].id == 1', 'json_path equals $.data[0].id: 1'],
    ['[BODY][0].id > 1', 'json_path greater_than $[0].id: 1'],
    ['[BODY].errors < 5', 'json_path less_than $.errors: 5'],
    ['[BODY].name == pat(john*)', 'json_path matches $.name: ^(?s:john.*)$'],
    ['[BODY].version == pat(v?.*)', null],
    ['[STATUS] != pat(5[0-9]*)', null],
    ['has([BODY].errors) == false', 'json_path not_exists $.errors'],
    ['has([BODY].data.user) == true', 'json_path exists $.data.user'],
    ['[CERTIFICATE_EXPIRATION] > 48h', 'certificate_days greater_than 1'],
    ['[CERTIFICATE_EXPIRATION] > 36h', 'certificate_days greater_than 1'],
    ['[CONNECTED] == true', null],
    ['[CONNECTED] == false', null],
    ['[IP] == 127.0.0.1', null],
    ['len([BODY].items) > 0', null],
    ['[BODY].n >= 3', null],
    ['[BODY].a..b == 3', null],
    ['[CONTEXT].id == 3', null],
    [`[BODY] == ${'x'.repeat(1_001)}`, null],
    ['nonsense', null],
    ['', null],
  ]
  for (const [text, expected] of rows) {
    const { assertions, note } = parseCondition(text, 'http')
    const [assertion] = assertions
    const converted = assertion ? `${assertion.type} ${assertion.operator} ${assertion.value}` : null
    t.equal(converted, expected, text)
    if (assertion) t.equal(validateAssertion(assertion), null, `${text} gives a valid assertion`)
    else if (text !== '[CONNECTED] == true') t.ok(note, `${text} has a note`)
  }
  t.match(parseCondition('[BODY].errors < 5', 'http').note, /a missing field makes the check fail/)
})

t.test('A value of null is not there for has(), as in Gatus, or there is a note', async t => {
  const present = parseCondition('has([BODY].data) == true', 'http').assertions
  t.same(
    present.map(({ operator, value }) => `${operator} ${value}`),
    ['exists $.data', 'not_equals $.data: null'],
  )
  t.match(parseCondition('has([BODY].error) == false', 'http').note, /null counts as present/)
})

t.test('White space around a body does not count, as in Gatus', async t => {
  const rows: [string, string, boolean][] = [
    ['[BODY] == OK', 'OK\n', true],
    ['[BODY] == OK', '\r\n OK', true],
    ['[BODY] == OK', 'NOT OK\n', false],
    ['[BODY] == OK', 'OK\nOK', false],
    ['[BODY] == 1.0', '1\n', false],
    ['[BODY] == OK?', 'O\n', false],
    ['[BODY] != ERROR', 'ERROR\n', false],
    ['[BODY] != ERROR', 'fine\n', true],
    ['[BODY] == any(up, ok)', 'ok\n', true],
    ['[BODY] == any(up, ok)', 'not ok\n', false],
    ['[BODY] != any(up, ok)', 'ok\n', false],
    ['[BODY] == pat(OK*done)', '\nOK\nall\ndone\n', true],
    ['[BODY] == pat(OK*done)', 'not OK, done\n', false],
  ]
  for (const [condition, body, passes] of rows) {
    const { assertions } = parseCondition(condition, 'http')
    const { verdict } = evaluate(assertions, { body: Buffer.from(body), headers: null } as Observation, 0)
    t.equal(verdict, passes ? 'passed' : 'failed', `${condition} of ${JSON.stringify(body)}`)
  }
})

t.test('The example configuration of Gatus is converted', async t => {
  const { file, warnings } = convertGatus(fixture('gatus-example.yaml'))
  t.same(
    file.monitors?.map(({ name, type, url, tags }) => [name, type, url, tags?.[0]]),
    [
      ['front-end', 'http', 'https://twin.sh/health', 'core'],
      ['back-end', 'http', 'https://example.org/', 'core'],
      ['monitoring', 'http', 'https://example.org/', 'internal'],
      ['nas', 'http', 'https://example.org/', 'internal'],
      ['example-dns-query', 'dns', 'dns://8.8.8.8/example.com?type=A', undefined],
      ['icmp-ping', 'ping', 'ping://example.org', undefined],
      ['check-domain-expiration', 'http', 'https://example.org/', undefined],
    ],
  )
  t.same(
    warnings.map(({ path }) => path),
    ['endpoints[0]', 'endpoints[6]'],
  )
})

t.test('Alerts, groups and maintenance are converted, and other parts get warnings', async t => {
  const { file, warnings } = convertGatus(fixture('gatus-whole.yaml'))
  const monitor = (id: string) => file.monitors?.find(entry => entry.id === id)
  t.same(
    file.alert_channels?.map(({ name, type }) => [name, type]),
    [
      ['slack', 'chat_a'],
      ['slack (core)', 'chat_a'],
      ['email', 'email'],
    ],
  )
  t.match(monitor('core_website'), {
    interval_seconds: 30,
    timeout_ms: 5_000,
    retry_count: 5,
    domain_check: true,
    rules: [
      { channel: 'slack (core)', on_recovery: true },
      { channel: 'email', on_recovery: false, remind_every_minutes: 30 },
    ],
  })
  t.match(monitor('internal_website'), { name: 'website', is_paused: true, interval_seconds: 3_600 })
  t.match(monitor('_dns'), { type: 'dns', url: 'dns://8.8.8.8/example.com?type=MX' })
  t.match(monitor('_graph'), { body: '{"query":"{ users { id } }"}', headers: { 'Content-Type': 'application/json' } })
  t.match(monitor('core_backup'), { type: 'heartbeat', heartbeat_interval: 1_800, heartbeat_grace: 3_600 })
  t.match(file.maintenance_windows, [
    { cron: '30 6 * * *', duration_minutes: 90, time_zone: 'UTC', monitors: ['_graph'] },
    { cron: '0 23 * * 1,4', duration_minutes: 60, time_zone: 'Europe/Amsterdam' },
  ])
  t.same(
    [...new Set(warnings.map(({ path }) => path))],
    [
      'alerting.email',
      'alerting.pagerduty',
      'endpoints[0]',
      'endpoints[0].alerts[0]',
      'endpoints[0].alerts[2]',
      'endpoints[1]',
      'endpoints[2]',
      'endpoints[5]',
      'endpoints[6]',
      'external-endpoints[0]',
      'alerting',
      'ui',
      'suites',
    ],
  )
  t.notMatch(JSON.stringify(file), /hunter2/, 'the password of a mail server is not carried over')
})

t.test('A slow response of an endpoint with a limit of its response time is alerted, as in Gatus', async t => {
  const alerts = [{ type: 'slack' }]
  const { file } = convertGatus({
    alerting: { slack: { 'webhook-url': 'https://chat.example.com/x' } },
    endpoints: [
      { name: 'limited', url: 'https://x.example.com/', conditions: ['[RESPONSE_TIME] < 300'], alerts },
      { name: 'any time', url: 'https://x.example.com/', conditions: ['[STATUS] == 200'], alerts },
    ],
  })
  t.match(file.monitors, [
    { name: 'limited', rules: [{ channel: 'slack', on_down: true, on_degraded: true }] },
    { name: 'any time', rules: [{ channel: 'slack', on_down: true, on_degraded: undefined }] },
  ])
})

t.test('Maintenance of an endpoint belongs to this endpoint, whatever the groups and names are', async t => {
  const url = 'https://x.example.com/'
  const night = [{ start: '03:00', duration: '1h' }]
  const long = 'n'.repeat(100)
  const { file } = convertGatus({
    maintenance: { start: '23:00', duration: '1h' },
    endpoints: [
      { group: 'a', name: 'b_c', url },
      { group: 'a_b', name: 'c', url, 'maintenance-windows': night },
      { group: 'core', name: `${long}1`, url },
      { group: 'core', name: `${long}2`, url },
      { name: 'x', url },
      { name: '_x', url },
    ],
  })
  const ids = file.monitors?.map(({ id }) => id)
  t.equal(new Set(ids).size, 6, 'each has an id of its own')
  t.notOk(ids?.includes('_x'), 'no id is the name of another endpoint')
  t.same(
    file.maintenance_windows?.map(({ monitors }) => monitors),
    [[ids?.[1]], ids],
  )
})

t.test('A heartbeat is down after as many missed intervals as the failure-threshold of Gatus says', async t => {
  const heartbeat = (interval: string, ...thresholds: number[]) => ({
    ...{ name: 'job', heartbeat: { interval } },
    alerts: thresholds.map(threshold => ({ type: 'slack', 'failure-threshold': threshold })),
  })
  const { file, warnings } = convertGatus({
    alerting: { slack: { 'webhook-url': 'https://chat.example.com/x' } },
    'external-endpoints': [
      heartbeat('10m', 1),
      heartbeat('10m', 5),
      heartbeat('10m', 2, 4),
      heartbeat('240h', 9),
      heartbeat('10m'),
    ],
  })
  t.same(
    file.monitors?.map(monitor => monitor.heartbeat_grace),
    [0, 2_400, 1_800, 31 * 86_400, 0],
  )
  t.notOk(file.monitors?.some(monitor => 'retry_count' in monitor))
  const text = warnings.map(({ path, message }) => `${path}: ${message}`).join('\n')
  t.match(text, /^external-endpoints\[2\]: all its alerts use the highest failure-threshold, 4$/m)
  t.match(text, /^external-endpoints\[3\]: its failure-threshold of 9 was changed to a grace of 2678400 s$/m)
})

t.test(
  'A condition that holds when a check fails is not turned into its opposite: its endpoint is left out',
  async t => {
    const opposites = [
      '[CONNECTED] == false',
      '[CONNECTED] != true',
      '[DNS_RCODE] == NXDOMAIN',
      '[DNS_RCODE] != NOERROR',
    ]
    const usual = ['[CONNECTED] == true', '[CONNECTED] != false', '[DNS_RCODE] == NOERROR']
    const { file, warnings } = convertGatus({
      endpoints: [...opposites, ...usual].map(condition => ({
        ...{ name: condition, url: 'tcp://x.example.com:80', conditions: [condition] },
      })),
    })
    t.same(
      file.monitors?.map(({ name }) => name),
      usual,
    )
    t.equal(warnings.length, opposites.length)
    for (const { message } of warnings) t.match(message, /value of a successful check; it was left out$/)
  },
)

t.test('An endpoint accepts any status only if none of its conditions is about the status', async t => {
  const statusAssertions = (...conditions: string[]) => {
    const { file } = convertGatus({ endpoints: [{ name: 'x', url: 'https://x.example.com/', conditions }] })
    return file.monitors?.[0]?.assertions?.map(({ operator, value }) => `${operator} ${value}`)
  }
  t.same(statusAssertions(), ['greater_than 0'])
  t.same(statusAssertions('[STATUS] == pat(2*)'), ['matches ^(?s:2.*)$'])
  t.same(statusAssertions('[STATUS] == ok'), [], 'the default of Picket, 200 to 399, applies')
})

t.test('Values of Gatus that are not understood, variables and recipients beyond the limit get warnings', async t => {
  const to = Array.from({ length: 21 }, (_, n) => `a${n}@example.com`).join(',')
  const alert = { type: 'email', 'failure-threshold': 'many', 'minimum-reminder-interval': 30 }
  const { file, warnings } = convertGatus({
    alerting: { email: { to } },
    endpoints: [
      {
        ...{ name: 'one', url: 'https://x.example.com/', interval: 300, client: { timeout: 5 }, headers: 'x' },
        ...{ conditions: ['[BODY].version == $VERSION'], alerts: [alert] },
      },
      {
        name: 'two',
        url: 'https://x.example.com/',
        conditions: '[STATUS] == 200',
        alerts: [{ 'failure-threshold': '4' }],
      },
    ],
  })
  t.match(file.monitors, [{ interval_seconds: 60, timeout_ms: 10_000, retry_count: 2 }, { retry_count: 3 }])
  const text = warnings.map(({ path, message }) => `${path}: ${message}`).join('\n')
  for (const sentence of [
    /^alerting.email: only its first 20 recipients were carried over, without a20@example.com$/m,
    /^endpoints\[0\]: one: its interval is not a duration such as 5m; 60 s is used$/m,
    /^endpoints\[0\]: one: its timeout is not a duration such as 5m; 10 s is used$/m,
    /^endpoints\[0\]: one: its headers are invalid; they were left out$/m,
    /^endpoints\[0\]: one: it contains an environment variable/m,
    /^endpoints\[0\]: its failure-threshold was not understood; 3 is used$/m,
    /^endpoints\[0\].alerts\[0\]: its minimum-reminder-interval is not a duration/m,
    /^endpoints\[1\]: two: its conditions are not a list; they were left out$/m,
  ]) {
    t.match(text, sentence)
  }
})

t.test('Merge keys add values and do not replace values of the entry', async t => {
  const text = `
defaults: &defaults { group: core, interval: 5m, conditions: ["[STATUS] == 204"], client: { timeout: 5s } }
quiet: &quiet { enabled: false, interval: 10m }
endpoints:
  - { <<: *defaults, name: one, url: "https://one.example.com/" }
  - { <<: [*quiet, *defaults], name: two, group: edge, url: "https://two.example.com/" }`
  const { file } = convertGatus(parseYaml(Buffer.from(text)))
  const assertions = [{ type: 'status_code', operator: 'equals', value: '204' }]
  t.match(file.monitors, [
    { name: 'one', interval_seconds: 300, timeout_ms: 5_000, tags: ['core'], assertions },
    { name: 'two', interval_seconds: 600, timeout_ms: 5_000, tags: ['edge'], assertions, is_paused: true },
  ])
})

t.test('Properties of alerts, providers and bodies without a counterpart get warnings', async t => {
  const alert = { type: 'slack', 'success-threshold': 5, 'minimum-reminder-interval': '48h', 'failure-threshold': 2 }
  const { file, warnings } = convertGatus({
    alerting: { slack: { 'webhook-url': '$HOOK', title: 'Shop', 'default-alert': { description: 'down' } } },
    endpoints: [
      {
        ...{ name: 'n'.repeat(101), group: 'g'.repeat(51), url: 'https://x.example.com/', body: '[ENDPOINT_NAME]' },
        alerts: [alert, { type: 'slack', enabled: false, 'failure-threshold': 6 }],
      },
      { name: 'cache', url: 'tcp://x.example.com:6379', body: 'PING', alerts: [alert, { type: 'slack' }] },
    ],
    'external-endpoints': [{ name: 'pushed' }],
  })
  t.match(file.monitors, [{ retry_count: 1, rules: [{ remind_every_minutes: 1_440 }] }, { retry_count: 2 }, {}])
  t.equal(file.monitors?.[2]?.heartbeat_interval, undefined)
  const text = warnings.map(({ path, message }) => `${path}: ${message}`).join('\n')
  for (const sentence of [
    /^alerting.slack: its title was not carried over$/m,
    /^alerting.slack: it contains an environment variable/m,
    /^alerting.slack.default-alert: its description was not carried over$/m,
    /^endpoints\[0\]: n+: its name was cut to 100 characters$/m,
    /^endpoints\[0\]: n+: its tags were cut to 50 tags/m,
    /^endpoints\[0\]: n+: placeholders in its body are not replaced$/m,
    /^endpoints\[0\].alerts\[0\]: its success-threshold was not carried over$/m,
    /^endpoints\[0\].alerts\[0\]: its reminder interval of 2880 min was changed to 1440 min$/m,
    /^endpoints\[1\]: cache: its body was not carried over$/m,
    /^endpoints\[1\]: all its alerts use the highest failure-threshold, 3$/m,
    /^external-endpoints\[0\]: pushed: it has no heartbeat interval/m,
    /^alerting: failure-threshold becomes re-checks/m,
  ]) {
    t.match(text, sentence)
  }
})

t.test('A body that is not a Gatus configuration is refused, and invalid parts of one get warnings', async t => {
  for (const other of [null, 1, 'text', [], {}, { monitorList: [] }, { endpoints: 0 }]) {
    t.throws(() => convertGatus(other), /not a Gatus configuration: endpoints is missing/, JSON.stringify(other))
  }
  const malformed = {
    endpoints: [null, 3, {}, { name: {}, url: [], conditions: 'x' }],
    alerting: { slack: null },
    maintenance: 1,
  }
  const { file, warnings } = convertGatus(malformed)
  t.same(file.monitors, [])
  t.equal(warnings.length, 5)
})

t.test('Conditions on records that Gatus writes differently are left out, with a note', async t => {
  for (const [type, isKept] of [
    ['A', true],
    ['TXT', true],
    ['MX', false],
    ['ns', false],
    ['SRV', false],
  ] as const) {
    const dns = { 'query-type': type, 'query-name': 'example.com' }
    const endpoint = { name: 'zone', url: '9.9.9.9', dns, conditions: ['[BODY] == a', '[DNS_RCODE] == NOERROR'] }
    const { file, warnings } = convertGatus({ endpoints: [endpoint] })
    t.equal(file.monitors?.[0]?.assertions?.length ?? 0, isKept ? 1 : 0, type)
    t.equal(
      warnings.some(({ message }) => /records in another way; this condition was left out/.test(message)),
      !isKept,
    )
  }
})
