import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { apply, exchangeApi, exported, listChanges, plan, withoutIds } from '../support/exchange.ts'
import { createResourceApi } from '../support/resource-api.ts'

const api = await createResourceApi(t, exchangeApi, { egressAllow: ['127.0.0.0/8'] })

/** Builds a file with every kind of record and this slug. */
const buildFile = (slug: string) => ({
  version: 1,
  alert_settings: { is_digest_enabled: false, digest_threshold: 7 },
  alert_channels: [
    {
      name: 'Ops',
      type: 'webhook',
      config: { url: 'https://hooks.example.com/a', headers: { Authorization: 'Bearer secret' } },
      is_default: true,
      subscriptions: ['incident'],
    },
    { name: 'Mail', type: 'email', config: { to: ['ann@example.com'] }, subscriptions: [] },
  ],
  monitors: [
    { name: 'Router', type: 'ping', url: 'router.example.com', rules: [] },
    {
      name: 'Shop',
      type: 'http',
      url: 'https://shop.example.com/health',
      regions: ['us-east', 'eu-west'],
      interval_seconds: 30,
      headers: { Accept: 'application/json' },
      auth_type: 'bearer',
      auth_config: { token: 'a secret token' },
      assertions: [{ type: 'status_code', operator: 'equals', value: '200' }],
      tags: ['shop', 'eu'],
      parents: ['Router'],
      rules: [{ channel: 'Mail', on_degraded: true, remind_every_minutes: 30 }],
    },
    { name: 'Backup', type: 'heartbeat', heartbeat_interval: 3_600, is_paused: true, rules: [{ channel: 'Ops' }] },
  ],
  maintenance_windows: [
    { title: 'Nightly', cron: '30 2 * * *', duration_minutes: 45, time_zone: 'Europe/Berlin', monitors: ['Shop'] },
  ],
  data_sources: [
    {
      name: 'Queues',
      url: 'https://queues.example.com/status.json',
      headers: { 'X-Api-Key': 'a secret key' },
      root_path: 'queues',
      fields: [
        { path: '*.state', name_template: 'Queue {{key}}', rule_type: 'equals', rule_config: { value: 'ok' } },
        { path: '*.age', name_template: 'Age of {{key}}', rule_type: 'truthy', rule_config: {} },
      ],
    },
  ],
  dependencies: [
    { slug: 'asana', overrides: [{ channel: 'Ops', on_degraded: false }] },
    {
      name: 'Carrier',
      status_url: 'https://status.carrier.example.com/feed',
      feed_type: 'rss',
      components: ['Tracking'],
    },
  ],
  status_pages: [
    {
      slug,
      name: 'Acme',
      template: 'clean',
      custom_css: '.page { letter-spacing: 0.01em }',
      is_published: true,
      components: [
        { name: 'Site', monitor: 'Shop' },
        {
          name: 'Inside',
          is_collapsed: true,
          components: [
            { name: 'Network', monitor: 'Router' },
            { name: 'Phones', description: 'by hand' },
          ],
        },
        { name: 'Last', status: 'degraded' },
      ],
    },
  ],
})

t.test('A project is imported, exported, and imported again without changes', async t => {
  const mine = await api.account()
  const first = await plan(mine, buildFile('first'))
  t.equal(first.status, 200, first.body.error?.message)
  t.match(first.body.data, { dry_run: true, update: 1, delete: 0, warnings: [] })
  const nothing = await exported(mine)
  t.same([nothing.monitors, nothing.alert_channels, nothing.status_pages], [[], [], []], 'a dry run changes nothing')

  const applied = await apply(mine, buildFile('first'))
  t.equal(applied.status, 200, applied.body.error?.message)
  t.same(listChanges(applied), listChanges(first))
  const again = await apply(mine, buildFile('first'))
  t.match(again.body.data, { create: 0, update: 0, delete: 0, extra: 0 })

  const file = await exported(mine)
  const names = (entries: { name: string }[]) => entries.map(({ name }) => name)
  t.same(names(file.status_pages[0].components), ['Site', 'Inside', 'Last'])
  t.same(names(file.status_pages[0].components[1].components), ['Network', 'Phones'])
  t.notMatch(JSON.stringify(file), /secret/)
  const same = await apply(mine, file, '&prune=true')
  t.match(same.body.data, { create: 0, update: 0, delete: 0 })

  const other = await api.account()
  file.status_pages[0].slug = 'second'
  const refused = await apply(other, file)
  t.equal(refused.status, 400)
  t.same(
    refused.body.error.details.map(({ path }: { path: string }) => path),
    [
      'monitors[1].auth_config.token',
      'alert_channels[0].config.headers.Authorization',
      'data_sources[0].headers.X-Api-Key',
    ],
  )
  file.monitors[1].auth_config.token = 'another'
  file.alert_channels[0].config.headers.Authorization = 'Bearer another'
  file.data_sources[0].headers['X-Api-Key'] = 'another'
  const carried = await apply(other, file)
  t.equal(carried.status, 200, carried.body.error?.message)
  t.same(withoutIds(await exported(other)), withoutIds(await exported(mine)))
  t.match((await apply(other, file)).body.data, { create: 0, update: 0, delete: 0 })
})

t.test('GET /export 200 returns readable YAML, oldest records first', async t => {
  const account = await api.account()
  await apply(account, { ...buildFile('readable'), status_pages: [] })
  const { status, headers, body } = await account.call('GET /export')
  t.equal(status, 200)
  t.equal(headers['content-type'], 'application/yaml; charset=utf-8')
  t.match(body, /^version: 1\nalert_settings:\n/)
  t.match(
    body,
    /\n {2}- id: [0-9a-f-]{36}\n {4}name: Shop\n {4}type: http\n {4}url: https:\/\/shop\.example\.com\/health\n/,
  )
  t.notMatch(body, /secret|: null|timeout_ms: 30000/, 'no secrets and no defaults')
  t.equal((await account.call('GET /export')).body, body)
})

t.test('The file in docs/import-export.md is accepted by POST /import', async t => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/import-export.md'), 'utf8')
  const [, file = ''] = /```yaml\n([\s\S]+?)```/.exec(docs) ?? []
  const account = await api.account()
  const sent = file.replace('"********"', 'Bearer abc')
  const planned = await account.call('POST /import', sent, { 'content-type': 'application/yaml' })
  t.match(planned, { status: 200, body: { data: { dry_run: true, warnings: [] } } }, planned.body.error?.message)
})

t.test('GET /export?id= returns one record in its section, which an import leaves unchanged', async t => {
  const account = await api.account()
  const other = await api.account()
  t.equal((await apply(account, buildFile('one-record'))).status, 200)
  const file = await exported(account)
  const sections = Object.keys(file).filter(section => Array.isArray(file[section]))
  t.ok(sections.length >= 6, sections.join())
  for (const section of sections) {
    for (const record of file[section]) {
      const one = (await account.call(`GET /export?format=json&id=${record.id}`)).body
      t.same(one, { version: 1, [section]: [record] }, `${section} ${record.name ?? record.title ?? record.slug}`)
      t.match((await plan(account, one)).body.data, { changes: [], warnings: [] })
    }
  }
  const [monitor] = file.monitors
  const yaml = await account.call(`GET /export?id=${monitor.id}`)
  t.match(yaml.body, new RegExp(`^version: 1\\nmonitors:\\n  - id: ${monitor.id}\\n    name: Router\\n`))
  for (const [caller, id] of [
    [account, 'nothing'],
    [account, ''],
    [other, monitor.id],
  ])
    t.match(await caller.call(`GET /export?format=json&id=${id}`), {
      status: 404,
      body: { error: { code: 'not_found', message: 'record of a project file not found' } },
    })
})

t.test('A rule gets the channel of the file when the project has another channel of the same name', async t => {
  const account = await api.account()
  const mail = { name: 'Ops', type: 'email', config: { to: ['ann@example.com'] } }
  const hook = { name: 'Ops', type: 'webhook', config: { url: 'https://hooks.example.com/a' } }
  const monitor = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', rules: [{ channel: 'Ops' }] }
  t.equal((await apply(account, { version: 1, alert_channels: [mail] })).status, 200)
  const file = { version: 1, alert_channels: [hook], monitors: [monitor] }
  t.match(await apply(account, file), { status: 200, body: { data: { warnings: [] } } })
  t.match((await apply(account, file)).body.data, { changes: [] }, 'also when the channel is already stored')
  const { alert_channels, monitors } = await exported(account)
  const { id } = alert_channels.find(({ type }: { type: string }) => type === 'webhook')
  t.match(monitors, [{ rules: [{ channel: id }] }])
})

t.test('Another interval of a heartbeat moves its deadline', async t => {
  const job = { name: 'Nightly', type: 'heartbeat', heartbeat_interval: 600, heartbeat_grace: 60, rules: [] }
  const account = await api.account()
  await apply(account, { version: 1, monitors: [job] })
  const read = async () => {
    const sql = `SELECT h.due_at AS at FROM heartbeats h JOIN monitors m ON m.id = h.monitor_id WHERE m.project_id = ?`
    return (await query<{ at: Date }>(api.db, sql, [account.projectId]))[0]!.at.getTime()
  }
  const due = Date.parse('2030-01-01T10:11:00Z')
  await execute(
    api.db,
    'INSERT INTO heartbeats (monitor_id, pings, due_at) SELECT id, 1, ? FROM monitors WHERE project_id = ?',
    [new Date(due), account.projectId],
  )
  for (const [interval, grace, seconds] of [
    [3_600, 60, 3_000],
    [600, 120, 60],
    [600, 120, 60],
    [86_400, 60, 85_800],
  ] as const) {
    const monitors = [{ ...job, heartbeat_interval: interval, heartbeat_grace: grace }]
    t.equal((await apply(account, { version: 1, monitors })).status, 200)
    t.equal(await read(), due + seconds * 1_000, `${interval} and ${grace}`)
  }
})

t.test(
  'A shorter interval of a heartbeat does not make it overdue at once, and gives it no more time than before',
  async t => {
    const job = { name: 'Nightly', type: 'heartbeat', heartbeat_interval: 86_400, heartbeat_grace: 60, rules: [] }
    const account = await api.account()
    await apply(account, { version: 1, monitors: [job] })
    const of = 'FROM monitors m WHERE h.monitor_id = m.id AND m.project_id = ?'
    const setDue = (hours: number) =>
      execute(api.db, `UPDATE heartbeats h SET due_at = now() + ? * interval '1 hour' ${of}`, [
        hours,
        account.projectId,
      ])
    const readMinutesLeft = async () => {
      const sql = `SELECT CAST(extract(epoch FROM h.due_at - now()) / 60 AS float8) AS left FROM heartbeats h, monitors m
      WHERE h.monitor_id = m.id AND m.project_id = ?`
      return (await query<{ left: number }>(api.db, sql, [account.projectId]))[0]!.left
    }
    const change = async (interval: number, grace: number) => {
      const monitors = [{ ...job, heartbeat_interval: interval, heartbeat_grace: grace }]
      t.equal((await apply(account, { version: 1, monitors })).status, 200)
      return await readMinutesLeft()
    }
    await execute(
      api.db,
      'INSERT INTO heartbeats (monitor_id, pings, due_at) SELECT id, 1, now() FROM monitors WHERE project_id = ?',
      [account.projectId],
    )
    // the last success was 10 hours ago
    await setDue(14)
    const hourly = await change(3_600, 60)
    t.ok(hourly > 55 && hourly <= 61, `${hourly} minutes are left, although the last success is too old`)
    await setDue(0.5)
    const withoutGrace = await change(3_600, 0)
    t.ok(withoutGrace > 29.5 && withoutGrace <= 30, `${withoutGrace} minutes are left with less grace`)
    await setDue(-1)
    const overdue = await change(1_800, 0)
    t.ok(overdue <= -60 && overdue > -65, `an overdue heartbeat is not changed: ${overdue} minutes`)
  },
)
