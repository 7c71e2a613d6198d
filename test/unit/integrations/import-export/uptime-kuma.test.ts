import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { convertUptimeKuma } from '../../../../control-plane/integrations/import-export/converters/uptime-kuma/convert.ts'
import { validateAssertion } from '../../../../shared/assertions/evaluate.ts'

const backup = () =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../fixtures/exchange/uptime-kuma-backup.json'), 'utf8'))

t.test('A backup of Uptime Kuma becomes monitors, channels and rules', async t => {
  const { file } = convertUptimeKuma(backup())
  t.match(file.alert_channels, [
    { name: 'Slack', type: 'chat_a', is_default: true },
    { name: 'Mail', type: 'email', config: { to: ['ann@example.com', 'bob@example.com'] } },
    { name: 'Hook', type: 'webhook', config: { headers: { Authorization: 'Bearer abc' } } },
  ])
  const monitor = (name: string) => file.monitors?.find(entry => entry.name === name)
  t.match(monitor('Shop'), {
    type: 'http',
    interval_seconds: 30,
    timeout_ms: 16_000,
    retry_count: 5,
    headers: { 'X-Team': 'ops', 'Content-Type': 'application/json' },
    auth_type: 'basic',
    auth_config: { username: 'ann', password: 's3cret' },
    ssl_check: true,
    assertions: [{ type: 'status_code', operator: 'equals', value: '200-399' }],
    tags: ['Production', 'region: eu', 'shop'],
    rules: [{ channel: 'Slack', remind_every_minutes: 10 }],
  })
  t.match(monitor('Search'), {
    type: 'keyword',
    keyword: 'No results',
    keyword_type: 'not_contains',
    is_paused: true,
    assertions: [{ type: 'status_code', operator: 'matches', value: '^(2\\d\\d|404)$' }],
  })
  t.match(monitor('Database'), { type: 'tcp', url: 'db.example.com:5432' })
  t.match(monitor('Router'), { type: 'ping', url: 'router.example.com' })
  t.match(monitor('Name server'), { type: 'dns', url: 'dns://9.9.9.9/example.com?type=MX' })
  t.match(monitor('Backup'), { type: 'heartbeat', heartbeat_interval: 3_600 })
  t.match(monitor('Version')?.assertions?.[1], { type: 'json_path', operator: 'equals', value: '$.data.version: 2' })
  for (const assertion of file.monitors?.flatMap(({ assertions }) => assertions ?? []) ?? []) {
    t.equal(validateAssertion(assertion), null, assertion.value)
  }
})

t.test('Entries without a counterpart get a warning each and are not converted', async t => {
  const { file, warnings } = convertUptimeKuma(backup())
  const names = file.monitors?.map(({ name }) => name)
  for (const left of ['Production', 'Firewall', 'Queue']) t.notOk(names?.includes(left), left)
  const text = warnings.map(({ path, message }) => `${path} ${message}`).join('\n')
  for (const sentence of [
    /monitorList\[0\] Production: a group becomes a tag/,
    /monitorList\[1\] Shop: its interval of 20 s was changed to 30 s/,
    /monitorList\[1\] Shop: its 9 retries were changed to 5/,
    /monitorList\[2\] Search: certificates are always verified/,
    /monitorList\[6\] Backup: it gets a new ping address/,
    /monitorList\[8\] Newest: its query .* its assertion was left out/,
    /monitorList\[9\] Firewall: upside down mode is not supported/,
    /monitorList\[10\] Queue: monitors of type mqtt/,
    /notificationList\[2\] Pushover: notifications of type pushover are not supported; it was left out/,
  ]) {
    t.match(text, sentence)
  }
})

t.test('A keyword that looks like JSON without spaces gets a warning', async t => {
  const http = { type: 'keyword', name: 'Shop', url: 'https://shop.example.com/' }
  const warnsAbout = (keyword: string) =>
    convertUptimeKuma({ monitorList: [{ ...http, keyword }] }).warnings.some(({ message }) =>
      /: Uptime Kuma removes the spaces of JSON before it searches; check the keyword/.test(message),
    )
  for (const keyword of ['"status":"ok"', 'true,"x', '{"a', '["a']) t.ok(warnsAbout(keyword), keyword)
  for (const keyword of ['OK', '"ok"', 'a: b', '[a]']) t.notOk(warnsAbout(keyword), keyword)
})

t.test('A monitor whose group is not in the file gets a warning', async t => {
  const { monitorList } = backup()
  const [group, shop] = monitorList
  const lost = /its group is not in this file; it does not get the tag of the group$/
  const messages = (...records: object[]) =>
    convertUptimeKuma({ monitorList: records }).warnings.map(({ message }) => message)
  t.ok(messages({ ...shop, parent: 1 }).some(message => lost.test(message)))
  t.ok(messages({ ...group, id: 7, parent: 1 }).some(message => lost.test(message)))
  t.notOk(messages(group, { ...shop, parent: 1 }, { ...shop, parent: null }).some(message => lost.test(message)))
})

t.test('The content type of a body is that of the record, in any case, else the default of its encoding', async t => {
  const { monitorList } = backup()
  const record = { ...monitorList[1], method: 'POST', body: '{}' }
  for (const [headers, expected] of [
    ['{"content-type":"application/vnd.api+json"}', { 'content-type': 'application/vnd.api+json' }],
    ['{"Content-Type":"text/plain"}', { 'Content-Type': 'text/plain' }],
    ['', { 'Content-Type': 'application/json' }],
  ] as const) {
    const { file } = convertUptimeKuma({ monitorList: [{ ...record, headers }] })
    t.same(file.monitors?.[0]?.headers, expected)
  }
})

t.test('Unusual properties of a record get warnings, and an ordinary record gets none', async t => {
  const { monitorList, notificationList } = backup()
  const plain = {
    ...monitorList[1],
    parent: null,
    interval: 60,
    maxretries: 0,
    resendInterval: 0,
    notificationIDList: {},
    timeout: 48,
  }
  t.same(convertUptimeKuma({ version: '1.23.0', monitorList: [plain], notificationList: [] }).warnings, [])
  const [slack] = notificationList
  const set = {
    slackwebhookURL: 'https://chat.example.com/x',
    type: 'slack',
    slackchannel: '#ops',
    slackrichmessage: true,
  }
  const rich = {
    ...{ ...plain, id: 2, name: 'Rich', maxretries: 1, resendInterval: 1, notificationIDList: { 1: true, 9: true } },
    ...{
      conditions: [{ type: 'expression' }],
      cacheBust: true,
      ipFamily: 'ipv6',
      authMethod: null,
      basic_auth_user: 'old',
    },
  }
  const { file, warnings } = convertUptimeKuma({
    monitorList: [rich, { ...plain, type: 'dns', dns_resolve_type: 'PTR', name: 'Reverse' }],
    notificationList: [
      { ...slack, config: JSON.stringify(set) },
      { ...slack, id: 9, config: JSON.stringify({ ...set, slackchannel: '' }) },
    ],
    dockerHostList: [{ id: 1 }],
    tagList: [],
  })
  t.same(
    file.monitors?.map(({ name }) => name),
    ['Rich'],
  )
  t.match(file.monitors?.[0]?.rules, [
    { channel: file.alert_channels?.[0]?.id },
    { channel: file.alert_channels?.[1]?.id },
  ])
  t.match(file.monitors?.[0], { auth_type: undefined }, 'unused credentials are not carried over')
  const text = warnings.map(({ path, message }) => `${path} ${message}`).join('\n')
  for (const sentence of [
    /monitorList\[0\] Rich: its conditions were left out/,
    /monitorList\[0\] Rich: its cache bust parameter/,
    /monitorList\[0\] Rich: its IP family/,
    /monitorList\[0\] Rich: its reminder interval of 1 min was changed to 5 min/,
    /monitorList\[1\] Reverse: PTR records are not supported; it was left out/,
    /monitorList Retries: they become re-checks/,
    /notificationList\[0\] Slack: its slackchannel was not carried over/,
    /dockerHostList Docker hosts: this section was not carried over/,
  ]) {
    t.match(text, sentence)
  }
  t.notMatch(text, /tagList|notificationList\[1\]/)
})

t.test('Records of version 2, by id, are converted', async t => {
  const { notificationList, monitorList } = backup()
  const byId = Object.fromEntries(monitorList.map((monitor: { id: number }) => [monitor.id, monitor]))
  byId[2].domainExpiryNotification = true
  byId[2].authMethod = 'bearer'
  byId[2].bearer_token = 'abc'
  byId[8].jsonPathOperator = '>'
  const { file } = convertUptimeKuma({ notificationList, monitorList: byId })
  t.match(file.monitors?.[0], { domain_check: true, auth_type: 'bearer', auth_config: { token: 'abc' } })
  t.match(file.monitors?.find(({ name }) => name === 'Version')?.assertions?.[1], {
    operator: 'greater_than',
    value: '$.data.version: 2',
  })
})

t.test('The notifications of a group become rules of its monitors, once for each channel', async t => {
  const notificationList = [1, 2].map(id => ({
    id,
    name: `Hook ${id}`,
    config: { type: 'webhook', webhookURL: `https://hooks.example.com/${id}` },
  }))
  const group = { type: 'group', name: 'G', id: 1, notificationIDList: { 1: true }, interval: 60, resendInterval: 10 }
  const child = { type: 'http', url: 'https://shop.example.com/', parent: 1 }
  const { file } = convertUptimeKuma({
    notificationList,
    monitorList: [
      group,
      { ...child, id: 2, name: 'Shop', notificationIDList: {} },
      { ...child, id: 3, name: 'Search', notificationIDList: { 1: true, 2: true } },
      { ...child, id: 4, name: 'Alone', parent: null, notificationIDList: {} },
    ],
  })
  t.same(
    file.monitors?.map(({ name, rules }) => [name, rules]),
    [
      ['Shop', [{ channel: 'Hook 1', remind_every_minutes: 10 }]],
      ['Search', [{ channel: 'Hook 1' }, { channel: 'Hook 2' }]],
      ['Alone', []],
    ],
  )
})

t.test('A JSON query with != fails without a value, as in Uptime Kuma', async t => {
  const query = { jsonPath: '$.status', jsonPathOperator: '!=', expectedValue: 'error' }
  const record = { type: 'json-query', name: 'Shop', url: 'https://shop.example.com/', ...query }
  const { file } = convertUptimeKuma({ monitorList: [record] })
  t.same(
    file.monitors?.[0]?.assertions?.slice(1).map(({ operator, value }) => `${operator} ${value}`),
    ['exists $.status', 'not_equals $.status: null', 'not_equals $.status: error'],
  )
})

t.test('Names with a hyphen in a JSON query are read only in back quotes, as in Uptime Kuma', async t => {
  const convert = (jsonPath: string) => {
    const query = { jsonPath, jsonPathOperator: '==', expectedValue: 'ok' }
    const record = { type: 'json-query', name: 'Shop', url: 'https://shop.example.com/', ...query }
    const { file, warnings } = convertUptimeKuma({ monitorList: [record] })
    return { value: file.monitors?.[0]?.assertions?.[1]?.value, warnings }
  }
  t.same(convert('$.`db-status`[0].state'), { value: '$.db-status[0].state: ok', warnings: [] })
  t.same(convert('`db-status`').value, '$.db-status: ok')
  t.match(convert('$.db-status'), {
    value: undefined,
    warnings: [{ message: /\$\.db-status is not a plain path; its assertion was left out/ }],
  })
})

t.test('Monitors that could only be down in Picket are paused, with a warning', async t => {
  const convert = (fields: object) => {
    const record = { type: 'http', name: 'Shop', url: 'https://shop.example.com/', ...fields }
    const { file, warnings } = convertUptimeKuma({ monitorList: [record] })
    return {
      isPaused: file.monitors?.[0]?.is_paused ?? false,
      warnings: warnings.map(({ message }) => message).join('\n'),
    }
  }
  for (const authMethod of ['mtls', 'oauth2-cc', 'ntlm']) {
    t.match(convert({ authMethod }), {
      isPaused: true,
      warnings: /authentication .* not carried over; the monitor is paused/,
    })
  }
  const moved = convert({ maxredirects: 0, accepted_statuscodes: ['301', '308'] })
  t.match(moved, {
    isPaused: true,
    warnings: /it expects a redirect, and redirects are followed; the monitor is paused/,
  })
  for (const fields of [
    { maxredirects: 0, accepted_statuscodes: ['200-299', '301'] },
    { maxredirects: 10, accepted_statuscodes: ['301'] },
    { maxredirects: 0, accepted_statuscodes: ['300-499'] },
    { maxredirects: 0, accepted_statuscodes: ['304'] },
    { authMethod: 'basic', basic_auth_user: 'ops', basic_auth_pass: 'x' },
  ]) {
    t.equal(convert(fields).isPaused, false)
  }
})

t.test('A user and password in an address become basic authentication, and no warning contains them', async t => {
  const convert = (fields: object) => {
    const record = { type: 'http', name: 'Shop', url: 'https://ops:p%40ss@shop.example.com/a?b=1', ...fields }
    const { file, warnings } = convertUptimeKuma({ monitorList: [record] })
    const { url, auth_type, auth_config } = file.monitors![0]!
    return { url, auth_type, auth_config, warnings }
  }
  const url = 'https://shop.example.com/a?b=1'
  t.same(convert({}), { url, auth_type: 'basic', auth_config: { username: 'ops', password: 'p@ss' }, warnings: [] })
  const bearer = convert({ authMethod: 'bearer', bearer_token: 'abc' })
  t.same(bearer, { url, auth_type: 'bearer', auth_config: { token: 'abc' }, warnings: [] })
})

t.test('A body that is not a backup is refused, and invalid parts of one get warnings', async t => {
  for (const other of [null, 1, 'text', [], {}, { endpoints: [] }]) {
    t.throws(() => convertUptimeKuma(other), /not an Uptime Kuma backup: monitorList is missing/, JSON.stringify(other))
  }
  const malformed = {
    monitorList: [null, {}, { type: 'http', name: 7, tags: 3, headers: '{', notificationIDList: 5 }],
    notificationList: [{ config: '{' }],
  }
  const { file, warnings } = convertUptimeKuma(malformed)
  t.match(file.monitors, [{ name: '7', type: 'http' }])
  t.equal(warnings.length, 5)
})

t.test('Numbers, switches, headers and status codes that are written as texts are read', async t => {
  const http = {
    type: 'http',
    name: 'Shop',
    url: 'https://shop.example.com/',
    interval: '120',
    timeout: '48',
    maxretries: '2',
  }
  const { file, warnings } = convertUptimeKuma({
    monitorList: [
      { ...http, headers: { 'X-Team': 'ops' }, accepted_statuscodes: '["200-299","404"]', expiryNotification: 1 },
      { ...http, upsideDown: '1', name: 'Firewall' },
      {
        type: 'port',
        name: 'Database',
        hostname: 'db.example.com',
        port: '5432',
        active: '0',
        notificationIDList: [2],
      },
      { ...http, type: 'keyword', keyword: 'ok', invertKeyword: '0' },
    ],
    notificationList: ['One', 'Two', 'Three'].map((name, id) => ({
      ...{ id, name, active: 1 },
      config: { type: 'slack', slackwebhookURL: 'https://chat.example.com/x' },
    })),
  })
  t.match(file.monitors, [
    {
      ...{ interval_seconds: 120, retry_count: 2, headers: { 'X-Team': 'ops' }, ssl_check: true },
      assertions: [{ value: '^(2\\d\\d|404)$' }],
    },
    { url: 'db.example.com:5432', is_paused: true, rules: [{ channel: 'Three' }] },
    { keyword_type: 'contains' },
  ])
  t.same(
    warnings.map(({ path }) => path),
    ['monitorList[1]', 'monitorList'],
    'only the monitor that is upside down, and the note about retries',
  )
})

t.test('Values that are not understood, and recipients beyond the limit, get warnings', async t => {
  const to = Array.from({ length: 22 }, (_, n) => `a${n}@example.com`).join(',')
  const { file, warnings } = convertUptimeKuma({
    monitorList: [
      {
        ...{ type: 'http', name: 'Shop', url: 'https://shop.example.com/', headers: ['x'], interval: 'often' },
        ...{ accepted_statuscodes: ['2xx'], maxretries: {}, resendInterval: 'x', notificationIDList: 5, timeout: 'x' },
      },
      { type: 'port', name: 'Database', hostname: 'db.example.com', port: 'postgres' },
      { type: 'push', name: 'Backup', interval: 60, retryInterval: 'x' },
      { type: 'port', name: 'Cache', hostname: 'cache.example.com', port: null },
    ],
    notificationList: [{ id: 1, name: 'Mail', config: { type: 'smtp', smtpTo: to } }],
  })
  t.match(file.alert_channels, [{ config: { to: to.split(',').slice(0, 20) } }])
  const text = warnings.map(({ path, message }) => `${path} ${message}`).join('\n')
  for (const sentence of [
    /^notificationList\[0\] Mail: only its first 20 recipients .*, without a20@example.com, a21@example.com$/m,
    /^monitorList\[0\] Shop: its interval was not understood; 60 is used$/m,
    /^monitorList\[0\] Shop: its timeout was not understood; 48 is used$/m,
    /^monitorList\[0\] Shop: its number of retries was not understood; 0 is used$/m,
    /^monitorList\[0\] Shop: its resend interval was not understood; 0 is used$/m,
    /^monitorList\[0\] Shop: its headers are invalid/m,
    /^monitorList\[0\] Shop: its accepted status codes were not all understood/m,
    /^monitorList\[0\] Shop: its list of notifications was not understood; its alert rule was left out$/m,
    /^monitorList\[1\] Database: its port was not understood; 443 is used$/m,
    /^monitorList\[3\] Cache: it has no port; it was left out$/m,
    /^monitorList\[2\] Backup: its retry interval was not understood; 60 is used$/m,
  ]) {
    t.match(text, sentence)
  }
})
