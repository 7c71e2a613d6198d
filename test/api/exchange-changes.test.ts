import fc from 'fast-check'
import t from 'tap'
import { isSensitiveName } from '../../shared/secret-names.ts'
import { apply, exchangeApi, exported, listChanges, plan, withoutIds } from '../support/exchange.ts'
import { type Account, createResourceApi } from '../support/resource-api.ts'
import { insertMonitor } from '../support/verdict.ts'

const api = await createResourceApi(t, exchangeApi)
const MONITOR = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', rules: [] }
const hook = (name: string) => ({ name, type: 'webhook', config: { url: 'https://hooks.example.com/a' } })
const accountWith = async (file: object) => {
  const account = await api.account()
  const applied = await apply(account, { version: 1, ...file })
  t.equal(applied.status, 200, applied.body.error?.message)
  return account
}

t.test('A plan shows the old and new value of each field and masks secrets', async t => {
  const secret = { auth_type: 'bearer', auth_config: { token: 'hunter1' } }
  const account = await accountWith({ monitors: [{ ...MONITOR, ...secret, interval_seconds: 300 }] })
  const file = { version: 1, monitors: [{ ...MONITOR, ...secret, auth_config: { token: 'hunter2' }, retry_count: 0 }] }
  const { body } = await plan(account, file)
  t.match(body.data.changes, [
    {
      action: 'update',
      resource: 'monitor',
      key: 'Shop',
      fields: {
        interval_seconds: { from: 300, to: 60 },
        retry_count: { from: 2, to: 0 },
        auth_config: { from: { token: '********' }, to: { token: '********' }, is_secret: true },
      },
    },
  ])
  t.notMatch(JSON.stringify(body), /hunter/)
})

t.test('The settings of witnesses are exported, planned and applied', async t => {
  const elsewhere = { witness: false, witness_with_credentials: true }
  const account = await accountWith({ monitors: [{ ...MONITOR, ...elsewhere }] })
  t.match((await exported(account)).monitors, [elsewhere])
  const { body } = await plan(account, { version: 1, monitors: [MONITOR] })
  t.match(body.data.changes[0].fields, {
    witness: { from: false, to: true },
    witness_with_credentials: { from: true, to: false },
  })
  await apply(account, { version: 1, monitors: [MONITOR] })
  t.match((await exported(account)).monitors, [{ witness: undefined, witness_with_credentials: undefined }])
})

t.test('An omitted field has its default, also when the update of the API does not have the field', async t => {
  const job = { name: 'Job', type: 'heartbeat', heartbeat_interval: 600, heartbeat_grace: 5, rules: [] }
  const account = await accountWith({ monitors: [job, { ...MONITOR, screenshot_threshold: 0.5, tags: ['a'] }] })
  await apply(account, {
    version: 1,
    monitors: [{ ...job, heartbeat_interval: 900, heartbeat_grace: undefined }, MONITOR],
  })
  const { monitors } = await exported(account)
  t.match(monitors[0], { name: 'Job', heartbeat_interval: 900, heartbeat_grace: undefined })
  t.match(monitors[1], { name: 'Shop', screenshot_threshold: undefined, tags: undefined })
})

t.test('An entry with an id renames a record, and references follow', async t => {
  const account = await accountWith({
    alert_channels: [hook('Ops')],
    monitors: [
      { ...MONITOR, rules: [{ channel: 'Ops' }] },
      { ...MONITOR, name: 'Child', parents: ['Shop'] },
    ],
    status_pages: [{ name: 'Acme', slug: 'renames', components: [{ name: 'Site', monitor: 'Shop' }] }],
  })
  const text = JSON.stringify(await exported(account))
    .replaceAll('"Shop"', '"Store"')
    .replaceAll('"Ops"', '"Night shift"')
  const renamed = await apply(account, text, '&prune=true')
  t.same(listChanges(renamed).sort(), ['update alert_channel Night shift', 'update monitor Store'])
  t.match(await exported(account), {
    monitors: [{ name: 'Store', rules: [{ channel: 'Night shift' }] }, { parents: ['Store'] }],
    status_pages: [{ components: [{ monitor: 'Store' }] }],
  })
})

t.test('Records with the same name are referred to by id', async t => {
  const account = await accountWith({
    monitors: [
      { ...MONITOR, interval_seconds: 30 },
      { ...MONITOR, interval_seconds: 90 },
      { ...MONITOR, name: 'Child' },
    ],
  })
  const file = await exported(account)
  file.monitors[2].parents = ['Shop']
  t.match((await apply(account, file)).body.error, { details: [{ message: /is the name of 2 monitors/ }] })
  file.monitors[2].parents = [file.monitors[1].id]
  await apply(account, file)
  const after = await exported(account)
  t.same(after.monitors[2].parents, [file.monitors[1].id])
  const other = await api.account()
  await apply(other, after)
  t.match((await apply(other, after)).body.data, { create: 0, update: 0 })
  const carried = await exported(other)
  t.same(carried.monitors[2].parents, [carried.monitors[1].id])
  const twins = [1, 2].map(() => ({ ...MONITOR, name: 'Copied' }))
  t.match((await plan(other, { version: 1, monitors: twins })).body.data, {
    create: 2,
    warnings: [{ path: 'monitors[1]', message: /also named Copied/ }],
  })
})

t.test('Only prune deletes records, and only in sections that the file has', async t => {
  const account = await accountWith({
    alert_channels: [{ ...hook('Ops'), subscriptions: ['incident'] }, hook('Old')],
    monitors: [
      { ...MONITOR, rules: [{ channel: 'Ops' }, { channel: 'Old' }] },
      { ...MONITOR, name: 'Gone' },
    ],
    maintenance_windows: [
      { title: 'Night', cron: '0 3 * * *', duration_minutes: 5, time_zone: 'UTC', monitors: ['Shop'] },
    ],
    status_pages: [
      {
        name: 'Acme',
        slug: 'prunes',
        components: [
          { name: 'Site', monitor: 'Shop' },
          { name: 'In', components: [] },
        ],
      },
    ],
    data_sources: [
      {
        name: 'Q',
        url: 'https://q.example.com/',
        fields: [{ path: 'a', name_template: 'A', rule_type: 'truthy', rule_config: {} }],
      },
    ],
    dependencies: [{ slug: 'asana' }],
  })
  const less = {
    version: 1,
    monitors: [{ ...MONITOR, rules: [{ channel: 'Ops' }] }],
    status_pages: [{ name: 'Acme', slug: 'prunes', components: [] }],
    data_sources: [{ name: 'Q', url: 'https://q.example.com/', fields: [] }],
  }
  t.match((await apply(account, less)).body.data, { create: 0, update: 0, delete: 0, extra: 5 })
  const pruned = await apply(account, less, '&prune=true')
  t.same(listChanges(pruned).sort(), [
    'delete alert_rule Shop → Old',
    'delete data_source_field Q / A',
    'delete monitor Gone',
    'delete status_page_component prunes / Site',
    'delete status_page_group prunes / In',
    'update data_source Q',
  ])
  t.match(await exported(account), {
    alert_channels: [{ name: 'Ops', subscriptions: ['incident'] }, { name: 'Old' }],
    monitors: [{ name: 'Shop', rules: [{ channel: 'Ops' }] }],
    maintenance_windows: [{ title: 'Night' }],
    dependencies: [{ slug: 'asana' }],
    data_sources: [{ fields: [] }],
  })
  const none = {
    alert_channels: [],
    monitors: [],
    maintenance_windows: [],
    status_pages: [],
    data_sources: [],
    dependencies: [],
  }
  await apply(account, { version: 1, ...none }, '&prune=true')
  t.match(await exported(account), none)
})

t.test('Components get the order of the file, and a monitor can swap roles with its parent', async t => {
  const component = (name: string) => ({ name })
  const page = (components: object[]) => [{ name: 'Acme', slug: 'orders', components }]
  const account = await accountWith({
    status_pages: page([component('A'), { name: 'G', components: [component('B'), component('C')] }, component('D')]),
    monitors: [
      { ...MONITOR, parents: ['Router'] },
      { ...MONITOR, name: 'Router', parents: [] },
    ],
  })
  const moved = await apply(account, {
    version: 1,
    status_pages: page([component('D'), component('C'), { name: 'G', components: [component('A'), component('B')] }]),
    monitors: [
      { ...MONITOR, parents: [] },
      { ...MONITOR, name: 'Router', parents: ['Shop'] },
    ],
  })
  t.equal(moved.status, 200, moved.body.error?.message)
  const { status_pages, monitors } = await exported(account)
  t.match(status_pages[0].components, [
    { name: 'D' },
    { name: 'C' },
    { name: 'G', components: [{ name: 'A' }, { name: 'B' }] },
  ])
  t.match(monitors, [
    { name: 'Shop', parents: undefined },
    { name: 'Router', parents: ['Shop'] },
  ])
})

t.test('A long circle of dependencies is refused with 409 and the paths of its monitors', async t => {
  const account = await api.account()
  const getParent = (i: number) => (i === 40 ? 'M39' : `M${(i + 39) % 40}`)
  const monitors = Array.from({ length: 41 }, (_, i) => ({
    ...MONITOR,
    name: `M${i}`,
    parents: [getParent(i)],
    rules: [],
  }))
  const refused = await apply(account, { version: 1, monitors })
  t.equal(refused.status, 409)
  const places = refused.body.error.details.map(({ path }: { path: string }) => path)
  t.same(
    places,
    monitors.slice(0, 40).map((_, i) => `monitors[${i}].parents`),
  )
  t.same((await exported(account)).monitors, [], 'nothing is stored')
})

t.test('The number of statements does not grow with the number of new monitors', async t => {
  const counts: number[] = []
  for (const size of [2, 60]) {
    const account = await api.account()
    const rules = [{ channel: 'Ops', remind_every_minutes: 30 }]
    const others = Array.from({ length: size }, (_, i) => ({
      ...{ ...MONITOR, name: `M${i}`, is_paused: i % 2 === 0, rules },
      ...(i > 0 && { parents: ['M0'] }),
    }))
    const count = { queries: 0 }
    const listen = () => count.queries++
    api.db.on('query', listen)
    const applied = await apply(account, { version: 1, alert_channels: [hook('Ops')], monitors: others })
    api.db.removeListener('query', listen)
    t.match(applied, { status: 200, body: { data: { create: 1 + 2 * size } } })
    t.match((await exported(account)).monitors[1], { parents: ['M0'], rules: [rules[0]] })
    t.match((await exported(account)).monitors[0], { is_paused: true })
    counts.push(count.queries)
  }
  t.equal(counts[0], counts[1])
})

t.test('A new monitor without rules in the file gets rules for the default channels', async t => {
  const { rules, ...silent } = MONITOR
  const account = await accountWith({
    alert_channels: [{ ...hook('Ops'), is_default: true }],
    monitors: [silent, { ...MONITOR, name: 'Quiet' }],
  })
  t.match((await exported(account)).monitors, [{ rules: [{ channel: 'Ops' }] }, { rules: [] }])
})

t.test('A maintenance window that has ended is not created and gets a warning', async t => {
  const over = { title: 'Move', starts_at: '2026-01-01T00:00:00Z', ends_at: '2026-01-01T01:00:00Z', monitors: ['Shop'] }
  const account = await api.account()
  const made = await apply(account, { version: 1, monitors: [MONITOR], maintenance_windows: [over] })
  t.match(made.body.data.warnings, [{ path: 'maintenance_windows[0]', message: /has ended/ }])
  t.same((await exported(account)).maintenance_windows, [])
})

t.test('A file without settings of notices leaves those of a stored window, so that it sends no messages', async t => {
  const [starts_at, ends_at] = [25, 26].map(hours => new Date(Date.now() + hours * 3_600_000).toISOString())
  const window = { title: 'Move', starts_at, ends_at, monitors: ['Shop'] }
  const notices = { notify_subscribers: false, announce_minutes: 90 }
  const file = { monitors: [MONITOR], maintenance_windows: [{ ...window, ...notices }] }
  const account = await accountWith(file)
  const again = await apply(account, { version: 1, ...file, maintenance_windows: [window] })
  t.same(listChanges(again), [])
  t.match((await exported(account)).maintenance_windows, [notices])
  await apply(account, { version: 1, ...file, maintenance_windows: [{ ...window, notify_subscribers: true }] })
  t.match((await exported(account)).maintenance_windows, [{ ...notices, notify_subscribers: true }])
})

t.test('A file that says nothing about it leaves a data source paused', async t => {
  const source = { name: 'Depots', url: 'https://depots.example.com/', fields: [] }
  const account = await accountWith({ data_sources: [{ ...source, is_paused: true }] })
  const again = await apply(account, { version: 1, data_sources: [{ ...source, headers: { 'X-A': '1' } }] })
  t.same(listChanges(again), ['update data_source Depots'])
  t.match((await exported(account)).data_sources, [{ is_paused: true }])
  await apply(account, { version: 1, data_sources: [{ ...source, is_paused: false }] })
  t.equal((await exported(account)).data_sources[0].is_paused, undefined)
})

t.test('A reference to a monitor that a data source has not created yet is left out with a warning', async t => {
  const account = await api.account()
  const field = { path: '*.state', name_template: 'Queue {{key}}', rule_type: 'equals', rule_config: { value: 'ok' } }
  const made = await apply(account, {
    version: 1,
    data_sources: [{ name: 'Queues', url: 'https://queues.example.com/', fields: [field], monitors: ['Queue mail'] }],
    status_pages: [
      { name: 'Acme', slug: 'awaited', components: [{ name: 'Mail', monitor: 'Queue mail' }, { name: 'Site' }] },
    ],
  })
  t.match(made, {
    status: 200,
    body: { data: { warnings: [{ path: 'data_sources[0].monitors', message: /Queue mail/ }] } },
  })
  t.same(listChanges(made), [
    'create data_source Queues',
    'create status_page awaited',
    'create status_page_component awaited / Site',
  ])
})

t.test('A plan does not wait for changes of monitors and does not delay them', async t => {
  const account = await accountWith({ monitors: [MONITOR] })
  const changed = {
    version: 1,
    monitors: [
      { ...MONITOR, url: 'https://new.example.com/' },
      { ...MONITOR, name: 'New' },
    ],
  }
  const other = await api.account()
  await api.db.transaction(async tx => {
    await insertMonitor(tx, other.projectId)
    t.match(await plan(account, changed), { status: 200, body: { data: { create: 1, update: 1 } } })
  })
  t.match((await exported(account)).monitors, [{ url: MONITOR.url }])
})

t.test('Concurrent imports of one file create each record once', async t => {
  const account = await api.account()
  const file = {
    version: 1,
    alert_channels: [hook('Ops')],
    monitors: Array.from({ length: 20 }, (_, i) => ({ ...MONITOR, name: `M${i}`, rules: [{ channel: 'Ops' }] })),
    status_pages: [{ name: 'Acme', slug: 'twice', components: [{ name: 'Site', monitor: 'M1' }] }],
  }
  const answers = await Promise.all([1, 2, 3, 4].map(() => apply(account, file)))
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  t.same(
    answers.map(({ body }) => body.data.create).sort((a, b) => a - b),
    [0, 0, 0, 43],
  )
  t.equal((await exported(account)).monitors.length, 20)
})

const name = fc.constantFrom('Shop', 'Router', 'Åland 🌊', "it's: a #name", '- dash', 'null', '0x1F', ' spaced ', 'yes')
/** Names of headers that are accepted and not masked as secrets. */
const openName = fc.stringMatching(/^X-[A-Z][a-z]{1,8}$/).filter(text => !isSensitiveName(text))
const monitor = fc.record(
  {
    name,
    type: fc.constantFrom('http', 'ping', 'keyword', 'heartbeat'),
    method: fc.constantFrom('GET', 'POST'),
    body: fc.string({ unit: 'binary', maxLength: 20 }).filter(text => !/[\0\p{Surrogate}]/u.test(text)),
    headers: fc.dictionary(openName, fc.stringMatching(/^[ -~]{0,20}$/), { maxKeys: 3 }),
    interval_seconds: fc.integer({ min: 30, max: 3_600 }),
    regions: fc.uniqueArray(fc.constantFrom('us-east', 'eu-west', 'eu-central'), { minLength: 1 }),
    screenshot_threshold: fc.integer({ min: 0, max: 100 }).map(percent => percent / 100),
    is_paused: fc.boolean(),
    tags: fc.array(name, { maxLength: 3 }),
    rules: fc.uniqueArray(fc.record({ channel: fc.constantFrom('One', 'Two'), on_degraded: fc.boolean() }), {
      selector: ({ channel }) => channel,
    }),
  },
  { requiredKeys: ['name', 'type', 'rules'] },
)
const EMPTY = JSON.stringify({ version: 1, alert_channels: [], monitors: [], status_pages: [] })
const component = fc.record({ name, description: name }, { requiredKeys: ['name'] })
const section = fc.oneof(component, fc.record({ name, components: fc.array(component, { maxLength: 3 }) }))

t.test('The export of any project creates an equal project elsewhere, as YAML and as JSON', async t => {
  const [one, two] = [await api.account(), await api.account()]
  const yaml = { 'content-type': 'application/yaml' }
  const importText = async (account: Account, text: string) => {
    const { status, body } = await account.call('POST /import?dry_run=false&prune=true', text, yaml)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  const shapes = fc.record({
    monitors: fc.array(monitor, { maxLength: 5 }),
    components: fc.array(section, { maxLength: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(shapes, async ({ monitors, components }) => {
      const page = (slug: string) => [{ name: 'Acme', slug, components }]
      const file = {
        version: 1,
        alert_channels: [hook('One'), hook('Two')],
        monitors,
        status_pages: page('random-one'),
      }
      await importText(one, JSON.stringify(file))
      const text = (await one.call('GET /export')).body as string
      await importText(two, EMPTY)
      await importText(two, text.replace('random-one', 'random-two'))
      const [first, second] = [await exported(one), await exported(two)]
      t.same(withoutIds(second), withoutIds(first))
      const again = await plan(one, first, '&prune=true')
      t.match(again.body.data, { create: 0, update: 0, delete: 0 })
    }),
    { numRuns: 8 },
  )
})
