import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { apply, exchangeApi, exported, listChanges, plan } from '../support/exchange.ts'
import { createResourceApi } from '../support/resource-api.ts'

const api = await createResourceApi(t, exchangeApi)
const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/exchange', name), 'utf8')

t.test('POST /import 200 imports a backup of Uptime Kuma, and a second import changes nothing', async t => {
  const account = await api.account()
  const first = await apply(account, fixture('uptime-kuma-backup.json'), '&from=uptime-kuma')
  t.match(first, { status: 200, body: { data: { update: 0, delete: 0 } } })
  t.ok(listChanges(first).includes('create monitor Shop'))
  t.ok(listChanges(first).includes('create alert_rule Shop → Slack'))
  t.ok(first.body.data.warnings.length > 8)
  const { monitors } = await exported(account)
  t.match(monitors[0], { name: 'Shop', auth_config: { username: 'ann', password: '********' }, tags: ['Production'] })
  const again = await apply(account, fixture('uptime-kuma-backup.json'), '&from=uptime-kuma')
  t.match(again.body.data, { create: 0, update: 0, delete: 0 })
})

t.test('POST /import 200 imports a Gatus configuration as YAML and warns about forbidden addresses', async t => {
  const account = await api.account()
  const yaml = { 'content-type': 'application/yaml' }
  const first = await account.call('POST /import?dry_run=false&from=gatus', fixture('gatus-whole.yaml'), yaml)
  t.equal(first.status, 200, first.body.error?.message)
  const names = (await exported(account)).monitors.map(({ name }: { name: string }) => name)
  t.same(names, ['website', 'website', 'dns', 'router', 'graph', 'backup'])
  const text = first.body.data.warnings.map(({ message }: { message: string }) => message).join('\n')
  t.match(text, /blocked_target: .*left out/, 'an address that the guard refuses')
  t.match(text, /left out of the maintenance window "Maintenance": _redis$/m)
  const windows = (await exported(account)).maintenance_windows
  const whole = windows.find(({ title }: { title: string }) => title === 'Maintenance')
  t.equal(whole?.monitors.length, names.length, 'the others stay in the maintenance window')
  const again = await account.call('POST /import?dry_run=false&from=gatus', fixture('gatus-whole.yaml'), yaml)
  t.match(again.body.data, { create: 0, update: 0, delete: 0 })
})

t.test('POST /import 200 leaves monitors that do not exist yet out of maintenance windows', async t => {
  const account = await api.account()
  const field = { path: '*.state', name_template: 'Queue {{key}}', rule_type: 'equals', rule_config: { value: 'ok' } }
  const nightly = { cron: '30 2 * * *', duration_minutes: 45, time_zone: 'UTC' }
  const { body } = await apply(account, {
    version: 1,
    monitors: [{ name: 'Shop', type: 'http', url: 'https://shop.example.com/' }],
    data_sources: [{ name: 'Queues', url: 'https://queues.example.com/', fields: [field], monitors: ['Queue mail'] }],
    maintenance_windows: [
      { ...nightly, title: 'Both', monitors: ['Shop', 'Queue mail'] },
      { ...nightly, title: 'Queue', monitors: ['Queue mail'] },
    ],
  })
  t.match(body.data.warnings, [
    { path: 'data_sources[0].monitors' },
    { path: 'maintenance_windows[0]', message: /were left out of the maintenance window "Both": Queue mail$/ },
    { path: 'maintenance_windows[1]', message: /"Queue" was left out, because none .*: Queue mail$/ },
  ])
  const { maintenance_windows: windows } = await exported(account)
  t.match(windows, [{ title: 'Both', monitors: ['Shop'] }])
  t.equal(windows.length, 1)
})

t.test('POST /import 200 keeps the archived monitor of a component', async t => {
  const account = await api.account()
  const file = (description: string, monitor: object) => ({
    version: 1,
    status_pages: [{ name: 'Cells', slug: 'archived-cell', components: [{ name: 'Cell', description, ...monitor }] }],
  })
  await apply(account, { version: 1, monitors: [{ name: 'Cell', type: 'http', url: 'https://cell.example.com/' }] })
  await apply(account, file('One', { monitor: 'Cell' }))
  const readMonitors = () =>
    query<{ id: string | null; description: string }>(
      api.db,
      `SELECT c.monitor_id AS id, c.description FROM status_page_components c JOIN status_pages p ON p.id = c.page_id
       WHERE p.slug = 'archived-cell'`,
    )
  const [before] = await readMonitors()
  t.type(before?.id, 'string')
  await execute(api.db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [before!.id])
  await apply(account, file('Two', {}))
  t.same(await readMonitors(), [{ id: before!.id, description: 'Two' }])
})

t.test('POST /import 400 for a file of another product than `from`', async t => {
  const account = await api.account()
  const kuma = fixture('uptime-kuma-backup.json')
  t.match(await plan(account, kuma, '&from=gatus'), {
    status: 400,
    body: { error: { message: /not a Gatus configuration/ } },
  })
  t.match(await plan(account, { endpoints: [] }, '&from=uptime-kuma'), { status: 400 })
  t.match(await plan(account, kuma), { status: 400 })
  t.match(await plan(account, kuma, '&from=nagios'), { status: 400, body: { error: { details: [{ path: 'from' }] } } })
})

t.test('POST /import 402 for more converted monitors than the plan includes', async t => {
  const account = await api.account('free')
  const monitorList = Array.from({ length: 51 }, (_, id) => ({
    id,
    name: `M${id}`,
    type: 'ping',
    hostname: 'example.com',
  }))
  const answer = await apply(account, { monitorList }, '&from=uptime-kuma')
  t.match(answer, { status: 402, body: { error: { code: 'tier_limit_reached' } } })
  t.same((await exported(account)).monitors, [])
})
