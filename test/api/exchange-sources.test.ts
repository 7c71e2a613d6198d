import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { apply, changesOf, exchangeApi, exported, plan } from '../support/exchange.ts'
import { createResourceApi } from '../support/resource-api.ts'

const api = await createResourceApi(t, exchangeApi)
const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/exchange', name), 'utf8')

t.test('POST /import accepts a backup of Uptime Kuma, and importing it again changes nothing', async t => {
  const account = await api.account()
  const first = await apply(account, fixture('uptime-kuma-backup.json'), '&from=uptime-kuma')
  t.match(first, { status: 200, body: { data: { update: 0, delete: 0 } } })
  t.ok(changesOf(first).includes('create monitor Shop'))
  t.ok(changesOf(first).includes('create alert_rule Shop → Slack'))
  t.ok(first.body.data.warnings.length > 8)
  const { monitors } = await exported(account)
  t.match(monitors[0], { name: 'Shop', auth_config: { username: 'ann', password: '********' }, tags: ['Production'] })
  const again = await apply(account, fixture('uptime-kuma-backup.json'), '&from=uptime-kuma')
  t.match(again.body.data, { create: 0, update: 0, delete: 0 })
})

t.test(
  'POST /import accepts a configuration of Gatus as YAML; forbidden targets are left out and reported',
  async t => {
    const account = await api.account()
    const yaml = { 'content-type': 'application/yaml' }
    const first = await account.call('POST /import?dry_run=false&from=gatus', fixture('gatus-whole.yaml'), yaml)
    t.equal(first.status, 200, first.body.error?.message)
    const names = (await exported(account)).monitors.map(({ name }: { name: string }) => name)
    t.same(names, ['website', 'website', 'dns', 'router', 'graph', 'backup'])
    const warnings = first.body.data.warnings.map(({ message }: { message: string }) => message).join('\n')
    t.match(warnings, /blocked_target: .*left out/, 'an address that the guard refuses')
    const again = await account.call('POST /import?dry_run=false&from=gatus', fixture('gatus-whole.yaml'), yaml)
    t.match(again.body.data, { create: 0, update: 0, delete: 0 })
  },
)

t.test('POST /import 400 for a file of another product than declared', async t => {
  const account = await api.account()
  const kuma = fixture('uptime-kuma-backup.json')
  t.match(await plan(account, kuma, '&from=gatus'), { status: 400, body: { error: { message: /no file of Gatus/ } } })
  t.match(await plan(account, { endpoints: [] }, '&from=uptime-kuma'), { status: 400 })
  t.match(await plan(account, kuma), { status: 400 })
  t.match(await plan(account, kuma, '&from=nagios'), { status: 400, body: { error: { details: [{ path: 'from' }] } } })
})

t.test('POST /import 402 for more monitors of another product than the plan includes', async t => {
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
