import t from 'tap'
import { apply, exchangeApi, exported, listChanges, plan } from '../support/exchange.ts'
import { createResourceApi } from '../support/resource-api.ts'

const api = await createResourceApi(t, exchangeApi)
const MONITOR = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', rules: [] }
const HOOK = { name: 'Ops', type: 'webhook', config: { url: 'https://hooks.example.com/a' } }

/** Returns the paths of a refusal. */
// biome-ignore lint/suspicious/noExplicitAny: answers of any shape
const listPaths = ({ body }: any): string[] => (body.error?.details ?? []).map(({ path }: { path: string }) => path)

t.test('POST /import 400 lists all problems of a file with their paths and changes nothing', async t => {
  const account = await api.account()
  const file = {
    version: 1,
    alert_channels: [HOOK, { ...HOOK, name: 'Bad', config: { url: 'ftp://x' } }],
    monitors: [
      { ...MONITOR, rules: [{ channel: 'Ops' }, { channel: 'Ops' }, { channel: 'Nobody' }] },
      { ...MONITOR, name: 'Other', url: 'http://169.254.169.254/', parents: ['Shop'] },
      { ...MONITOR, name: 'Third', auth_type: 'basic', parents: ['Third'] },
      { ...MONITOR, name: 'Fourth', id: 'x', parents: ['Nothing'] },
      { ...MONITOR, name: 'Fifth', id: 'X' },
    ],
    maintenance_windows: [
      { title: 'Night', cron: 'nonsense', duration_minutes: 5, time_zone: 'UTC', monitors: ['Shop'] },
    ],
    status_pages: [
      { name: 'Acme', slug: 'acme-faults', custom_css: '@import "x"', components: [{ name: 'A', is_collapsed: true }] },
    ],
  }
  for (const send of [plan, apply]) {
    const refused = await send(account, file)
    t.equal(refused.status, 400)
    t.same(listPaths(refused), [
      'monitors[4].id',
      'monitors[1].url',
      'monitors[2].auth_config',
      'monitors[3].parents[0]',
      'alert_channels[1].config.url',
      'monitors[0].rules[1].channel',
      'monitors[0].rules[2].channel',
      'maintenance_windows[0].cron',
      'status_pages[0].custom_css',
    ])
  }
  const { monitors, alert_channels, status_pages } = await exported(account)
  t.same([monitors, alert_channels, status_pages], [[], [], []])
})

t.test('POST /import 400 for a file that does not match the schema', async t => {
  const account = await api.account()
  const rows: [unknown, string][] = [
    [{}, 'version'],
    [{ version: 2 }, 'version'],
    [{ version: 1, colour: 1 }, 'colour'],
    [{ version: 1, monitors: {} }, 'monitors'],
    [{ version: 1, monitors: [{ ...MONITOR, interval_seconds: 5 }] }, 'monitors[0].interval_seconds'],
    [{ version: 1, monitors: [{ ...MONITOR, name: 'a\0b' }] }, 'monitors[0].name'],
    [{ version: 1, status_pages: [{ name: 'A', slug: 'A B' }] }, 'status_pages[0].slug'],
  ]
  for (const [file, path] of rows) {
    const refused = await apply(account, file)
    t.equal(refused.status, 400)
    t.ok(listPaths(refused).includes(path), path)
  }
})

t.test('POST /import 400 for YAML that is a bomb, too deep, ambiguous or not plain data', async t => {
  const account = await api.account()
  const send = (text: string) => account.call('POST /import', text, { 'content-type': 'application/yaml' })
  const letters = [...'abcdefghij']
  const laughs = letters.map(
    (name, i) =>
      `${name}: &${name} [${Array(9)
        .fill(i === 0 ? 'lol' : `*${letters[i - 1]}`)
        .join(', ')}]`,
  )
  const rows: [string, string][] = [
    ['a billion laughs', `version: 1\n${laughs.join('\n')}`],
    ['a circle', '&a [*a]'],
    ['many aliases', `- &a x\n${'- *a\n'.repeat(2_000)}`],
    ['10,000 levels', '['.repeat(10_000)],
    ['1 MiB of brackets', '['.repeat(1024 * 1024 - 1)],
    ['10,000 dashes', '- '.repeat(10_000)],
    ['a key twice', 'version: 1\nversion: 1'],
    ['60,000 keys', Array.from({ length: 60_000 }, (_, i) => `k${i}: 1`).join('\n')],
    ['__proto__', 'version: 1\n__proto__: {x: 1}'],
    ['a tag', 'version: !!js/function "function () {}"'],
    ['a type of another product', 'version: !!python/object/apply:os.system ["id"]'],
    ['binary', 'version: !!binary aGk='],
    ['a NUL', 'version: "\\0"'],
    ['half a surrogate pair', 'version: "\\ud800"'],
    ['not a number', 'version: .nan'],
    ['endless', 'version: .inf'],
    ['two documents', 'version: 1\n---\nversion: 1'],
    ['nothing', '# only words\n'],
    ['a key that is a list', '? [a]\n: 1'],
    ['an open quote', 'version: "1'],
    ['tabs', 'monitors:\n\t- name: x'],
  ]
  for (const [what, text] of rows) {
    const { status, body } = await send(text)
    t.equal(status, 400, what)
    t.match(body.error.message, /^\S.* \S/, `${what}: ${body.error.message}`)
  }
  t.equal((await send(`version: 1\n#${'x'.repeat(1024 * 1024)}`)).status, 413)
  t.equal((await account.call('POST /import', 'version: 1', { 'content-type': 'text/plain' })).status, 415)
  t.equal((await account.call('POST /monitors', 'name: x', { 'content-type': 'application/yaml' })).status, 415)
})

t.test('POST /import 402 beyond the limits of the plan changes nothing', async t => {
  const account = await api.account('free')
  const monitors = Array.from({ length: 51 }, (_, i) => ({ ...MONITOR, name: `M${i}`, parents: i ? ['M0'] : [] }))
  const refused = await apply(account, { version: 1, alert_channels: [HOOK], monitors })
  t.match(refused, { status: 402, body: { error: { code: 'tier_limit_reached' } } })
  const pages = ['one', 'two'].map(slug => ({ slug: `limits-${slug}`, name: slug }))
  t.equal((await apply(account, { version: 1, status_pages: pages })).status, 402)
  t.same((await exported(account)).alert_channels, [])
})

t.test('POST /import with prune may exceed a limit of the plan until it has deleted records', async t => {
  const account = await api.account('free')
  const named = (prefix: string, count: number) => ({
    version: 1,
    monitors: Array.from({ length: count }, (_, i) => ({ ...MONITOR, name: `${prefix}${i}` })),
  })
  const replace = (file: unknown, mode = 'dry_run=false') => account.call(`POST /import?prune=true&${mode}`, file)
  t.equal((await apply(account, named('Old', 50))).status, 200)
  t.equal((await apply(account, named('New', 1))).status, 402, 'without prune')
  t.match(await replace(named('New', 51)), { status: 402, body: { error: { code: 'tier_limit_reached' } } })
  t.equal((await exported(account)).monitors[0].name, 'Old0', 'a refused import changes nothing')
  t.equal((await replace(named('New', 50), 'dry_run=true')).status, 200)
  t.equal((await replace(named('New', 50))).status, 200)
  const names = (await exported(account)).monitors.map((monitor: { name: string }) => monitor.name)
  t.same(
    names.sort(),
    named('New', 50)
      .monitors.map(monitor => monitor.name)
      .sort(),
  )
})

t.test('POST /import 403 for a write key that sends stored secrets to another origin', async t => {
  const account = await api.account()
  const secret = { ...MONITOR, auth_type: 'bearer', auth_config: { token: 'abc' } }
  await apply(account, { version: 1, monitors: [secret] })
  const file = await exported(account)
  file.monitors[0].url = 'https://evil.example.net/'
  const writer = await account.callWith('write')
  const refused = await writer('POST /import?dry_run=false', file)
  t.match(refused, { status: 403, body: { error: { code: 'insufficient_scope' } } })
  t.equal((await apply(account, file)).status, 200, 'an admin may')
  t.equal((await (await account.callWith('read'))('POST /import', file)).status, 403)
  t.equal((await (await account.callWith('read'))('GET /export?format=json')).status, 200)
})

t.test('POST /import 409 for a slug of another project and for a changed slug', async t => {
  const [mine, other] = [await api.account(), await api.account()]
  const page = (slug: string) => ({ version: 1, status_pages: [{ name: 'Acme', slug }] })
  await apply(mine, page('taken'))
  t.match(await apply(other, page('taken')), {
    status: 409,
    body: { error: { details: [{ path: 'status_pages[0]' }] } },
  })
  const file = await exported(mine)
  file.status_pages[0].slug = 'moved'
  t.equal((await apply(mine, file)).status, 409)
})

t.test('Ids of another project are ignored, and its records are neither read nor changed', async t => {
  const [mine, other] = [await api.account(), await api.account()]
  await apply(other, { version: 1, alert_channels: [HOOK], monitors: [{ ...MONITOR, rules: [{ channel: 'Ops' }] }] })
  const theirs = await exported(other)
  const [monitor] = theirs.monitors
  const made = await apply(
    mine,
    { version: 1, monitors: [{ ...MONITOR, id: monitor.id, name: 'Mine' }] },
    '&prune=true',
  )
  t.same(listChanges(made), ['create monitor Mine'])
  for (const reference of [monitor.id, 'Shop']) {
    const parents = { version: 1, monitors: [{ ...MONITOR, name: 'Mine', parents: [reference] }] }
    t.match(await apply(mine, parents), {
      status: 400,
      body: { error: { details: [{ path: 'monitors[0].parents[0]' }] } },
    })
  }
  const rule = {
    version: 1,
    monitors: [{ ...MONITOR, name: 'Mine', rules: [{ channel: theirs.alert_channels[0].id }] }],
  }
  t.equal((await apply(mine, rule)).status, 400)
  t.same(await exported(other), theirs)
})

t.test('POST /import 404 for an unknown vendor or installation, and 400 for a person on call', async t => {
  const account = await api.account()
  const installed = { installation_id: '0190a0a0-0000-7000-8000-000000000000', channel_id: 'C1' }
  const rows: [object, number, string][] = [
    [{ dependencies: [{ slug: 'no-such-vendor' }] }, 404, 'dependencies[0]'],
    [{ alert_channels: [{ name: 'Ops', type: 'chat_a', config: installed }] }, 404, 'alert_channels[0]'],
    [{ alert_settings: { on_call_user_id: account.userId } }, 400, 'alert_settings.on_call_user_id'],
  ]
  for (const [file, status, path] of rows) {
    for (const send of [plan, apply]) {
      t.match(await send(account, { version: 1, ...file }), { status, body: { error: { details: [{ path }] } } }, path)
    }
  }
  t.match(await exported(account), { alert_channels: [], dependencies: [] })
})

t.test('POST /import 400 for a forbidden image address, together with other problems', async t => {
  const account = await api.account()
  const refused = await apply(account, {
    version: 1,
    monitors: [{ ...MONITOR, url: 'http://127.0.0.1/' }],
    status_pages: [
      { name: 'Acme', slug: 'no-images', logo_url: 'http://example.com/logo.png' },
      { name: 'Other', slug: 'none-either', favicon_url: 'https://127.0.0.1/icon.png' },
    ],
  })
  t.equal(refused.status, 400)
  t.same(listPaths(refused), ['monitors[0].url', 'status_pages[0].logo_url', 'status_pages[1].favicon_url'])
  t.same((await exported(account)).status_pages, [])
})
