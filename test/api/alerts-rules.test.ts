import t from 'tap'
import { channelRoutes } from '../../control-plane/alerting/routing/alert-channels/routes.ts'
import { ruleRoutes } from '../../control-plane/alerting/routing/rules/rule-routes.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  channelRoutes(app, handles)
  ruleRoutes(app, handles)
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
})
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'

async function addMonitor(call: Call): Promise<string> {
  return (await call('POST /monitors', { name: 'Shop', type: 'http' })).body.data.id
}

async function addChannel(call: Call, more: object = {}): Promise<string> {
  const config = { url: 'https://hooks.example.com' }
  return (await call('POST /alerts/channels', { name: 'Hook', type: 'webhook', config, ...more })).body.data.id
}

t.test('POST /alerts/rules 201 with the defaults of the specification; PUT and DELETE 200', async t => {
  const { call } = await api.account()
  const pair = { monitor_id: await addMonitor(call), alert_channel_id: await addChannel(call) }
  const created = await call('POST /alerts/rules', pair)
  t.equal(created.status, 201)
  const { id, created_at, updated_at, ...rest } = created.body.data
  t.same(rest, { ...pair, on_down: true, on_recovery: true, on_degraded: false, remind_every_minutes: null })
  t.equal(created_at, updated_at)
  t.same((await call(`GET /alerts/rules/${id}`)).body, created.body)

  const changed = await call(`PUT /alerts/rules/${id}`, { on_down: false, on_degraded: true })
  t.match(changed, { status: 200, body: { data: { ...pair, on_down: false, on_recovery: true, on_degraded: true } } })
  const moved = await call(`PUT /alerts/rules/${id}`, { alert_channel_id: await addChannel(call) })
  t.match(moved, { status: 200, body: { data: { on_down: false, monitor_id: pair.monitor_id } } })
  t.not(moved.body.data.alert_channel_id, pair.alert_channel_id)

  t.same(
    (await call(`DELETE /alerts/rules/${id.toUpperCase()}`)).body,
    { data: { id, deleted: true } },
    'in lower case',
  )
  t.equal((await call(`DELETE /alerts/rules/${id}`)).status, 404)
})

t.test('PUT /alerts/rules/{id} 200 and POST 201 set the interval of reminders', async t => {
  const { call } = await api.account()
  const pair = { monitor_id: await addMonitor(call), alert_channel_id: await addChannel(call) }
  const other = await call('POST /alerts/rules', { ...pair, alert_channel_id: await addChannel(call) })
  t.match(other, { status: 201, body: { data: { remind_every_minutes: null } } }, 'none by default')
  await call(`DELETE /alerts/rules/${other.body.data.id}`)
  for (const wrong of [4, 1_441, '30']) {
    const refused = await call('POST /alerts/rules', { ...pair, remind_every_minutes: wrong })
    t.match(refused, { status: 400, body: { error: { details: [{ path: 'remind_every_minutes' }] } } }, `${wrong}`)
  }
  const created = await call('POST /alerts/rules', { ...pair, remind_every_minutes: 60 })
  t.match(created, { status: 201, body: { data: { remind_every_minutes: 60 } } })
  const { id } = created.body.data
  for (const minutes of [5, 1_440, null, 30]) {
    const changed = await call(`PUT /alerts/rules/${id}`, { remind_every_minutes: minutes })
    t.match(changed, { status: 200, body: { data: { remind_every_minutes: minutes, on_down: true } } })
  }
  for (const wrong of [4, 0, -5, 1_441, 7.5, '30', true]) {
    const answer = await call(`PUT /alerts/rules/${id}`, { remind_every_minutes: wrong })
    t.match(answer, { status: 400, body: { error: { details: [{ path: 'remind_every_minutes' }] } } }, `${wrong}`)
  }
  const kept = await call(`PUT /alerts/rules/${id}`, { on_degraded: true })
  t.match(kept.body.data, { remind_every_minutes: 30, on_degraded: true })
  t.same((await call('GET /alerts/rules')).body.data, [kept.body.data])
})

t.test(
  'PUT /alerts/rules/{id} 200 accepts a rule as it was read, and does not change its id and its times',
  async t => {
    const { call } = await api.account()
    const pair = { monitor_id: await addMonitor(call), alert_channel_id: await addChannel(call) }
    const { data } = (await call('POST /alerts/rules', pair)).body
    const others = { id: UNKNOWN, created_at: '2000-01-01T00:00:00.000Z', updated_at: '2000-01-01T00:00:00.000Z' }
    const empty = await call(`PUT /alerts/rules/${data.id}`, others)
    t.match(empty, { status: 200, body: { data } }, 'they count as nothing to change')
    const changed = await call(`PUT /alerts/rules/${data.id}`, { ...data, ...others, on_degraded: true })
    t.match(changed, { status: 200, body: { data: { ...data, on_degraded: true, updated_at: /^20[^0]/ } } })
    const unknown = await call(`PUT /alerts/rules/${data.id}`, { ...data, project_id: UNKNOWN })
    t.match(unknown, { status: 400, body: { error: { details: [{ path: 'project_id' }] } } })
  },
)

t.test('POST /alerts/rules 409 for a second rule of the same pair, in a create or an update', async t => {
  const { call } = await api.account()
  const pair = { monitor_id: await addMonitor(call), alert_channel_id: await addChannel(call) }
  const together = await Promise.all(Array.from({ length: 5 }, () => call('POST /alerts/rules', pair)))
  t.same(together.map(({ status }) => status).sort(), [201, 409, 409, 409, 409])
  const other = await call('POST /alerts/rules', { ...pair, alert_channel_id: await addChannel(call) })
  const collided = await call(`PUT /alerts/rules/${other.body.data.id}`, pair)
  t.match(collided, { status: 409, body: { error: { code: 'conflict' } } })
})

t.test('POST /alerts/rules 404 for a monitor or channel of another tenant', async t => {
  const { call } = await api.account()
  const other = await api.account()
  const pair = { monitor_id: await addMonitor(call), alert_channel_id: await addChannel(call) }
  const theirs = { monitor_id: await addMonitor(other.call), alert_channel_id: await addChannel(other.call) }
  const deleted = await addMonitor(call)
  await execute(api.db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [deleted])
  const foreign = [
    { monitor_id: theirs.monitor_id },
    { monitor_id: UNKNOWN },
    { monitor_id: 'nonsense' },
    { monitor_id: deleted },
    { alert_channel_id: theirs.alert_channel_id },
    { alert_channel_id: UNKNOWN },
    { alert_channel_id: 'nonsense' },
  ]
  const mine = await call('POST /alerts/rules', pair)
  for (const ids of foreign) {
    const message = 'monitor_id' in ids ? `monitor not found: "${ids.monitor_id}"` : 'channel not found'
    const refusal = { status: 404, body: { error: { code: 'not_found', message } } }
    t.match(await call('POST /alerts/rules', { ...pair, ...ids }), refusal)
    t.match(await call(`PUT /alerts/rules/${mine.body.data.id}`, ids), refusal)
  }
  t.equal((await call('GET /alerts/rules')).body.meta.total, 1)
})

t.test('POST /alerts/rules 400 names the invalid field', async t => {
  const { call } = await api.account()
  const pair = { monitor_id: await addMonitor(call), alert_channel_id: await addChannel(call) }
  const rows: [object, string][] = [
    [{ monitor_id: undefined }, 'monitor_id'],
    [{ monitor_id: '' }, 'monitor_id'],
    [{ monitor_id: 5 }, 'monitor_id'],
    [{ alert_channel_id: undefined }, 'alert_channel_id'],
    [{ alert_channel_id: [] }, 'alert_channel_id'],
    [{ on_down: 'true' }, 'on_down'],
    [{ on_recovery: 1 }, 'on_recovery'],
    [{ on_degraded: null }, 'on_degraded'],
    [{ on_fire: true }, 'on_fire'],
  ]
  for (const [wrong, path] of rows) {
    const answer = await call('POST /alerts/rules', { ...pair, ...wrong })
    t.match(answer, { status: 400, body: { error: { details: [{ path }] } } }, JSON.stringify(wrong))
  }
  t.equal((await call('GET /alerts/rules')).body.meta.total, 0)
})

t.test('GET /alerts/rules 200 returns all rules without page parameters, and filters by monitor', async t => {
  const { call } = await api.account()
  const channel = await addChannel(call, { is_default: true })
  const monitors = Array.from({ length: 30 }, (_, i) => ({ name: `M ${i}`, type: 'http' }))
  const bulk = await call('POST /monitors/bulk', { monitors })
  const all = await call('GET /alerts/rules')
  t.equal(all.status, 200)
  t.equal(all.body.data.length, 30)
  t.same(all.body.meta, { page: 1, per_page: 30, total: 30, total_pages: 1 })
  const paged = await call('GET /alerts/rules?page=2&per_page=20')
  t.same(paged.body.data, all.body.data.slice(20), 'newest first in pages too')
  t.same(paged.body.meta, { page: 2, per_page: 20, total: 30, total_pages: 2 })
  const one = await call(`GET /alerts/rules?monitor_id=${bulk.body.monitors[3].id}`)
  t.same(one.body.data, [{ ...one.body.data[0], monitor_id: bulk.body.monitors[3].id, alert_channel_id: channel }])
  const other = await api.account()
  for (const id of ['nonsense', UNKNOWN, await addMonitor(other.call)]) {
    t.equal((await call(`GET /alerts/rules?monitor_id=${id}`)).status, 404, id)
  }
  t.equal((await call('GET /alerts/rules?per_page=0')).status, 400)
})

t.test(
  'A default channel is linked to monitors that are created later, by POST and in bulk, and not to older ones',
  async t => {
    const { call } = await api.account()
    const older = await addMonitor(call)
    await addChannel(call)
    const byDefault = await addChannel(call, { is_default: true })
    const made = await addMonitor(call)
    const bulk = await call('POST /monitors/bulk', { monitors: [{ name: 'B', type: 'http' }, { name: 'broken' }] })
    await call(`PUT /alerts/channels/${byDefault}`, { is_default: false })
    await addMonitor(call)
    const { body } = await call('GET /alerts/rules')
    const switches = { on_down: true, on_recovery: true, on_degraded: false }
    t.match(body.data, [
      { monitor_id: bulk.body.monitors[0].id, alert_channel_id: byDefault, ...switches },
      { monitor_id: made, alert_channel_id: byDefault, ...switches },
    ])
    t.equal(body.data.length, 2)
    t.notOk(body.data.some((rule: { monitor_id: string }) => rule.monitor_id === older))
  },
)

t.test('DELETE /alerts/rules/{id} 200 deletes one rule only; later requests are 404', async t => {
  const { call } = await api.account()
  const monitor_id = await addMonitor(call)
  const pair = async () => ({ monitor_id, alert_channel_id: await addChannel(call) })
  const { id } = (await call('POST /alerts/rules', await pair())).body.data
  const other = (await call('POST /alerts/rules', await pair())).body.data
  const deleted = await call(`DELETE /alerts/rules/${id}`)
  t.match(deleted, { status: 200, body: { data: { id, deleted: true } } })
  t.same((await call('GET /alerts/rules')).body.data, [other])
  t.equal((await call(`DELETE /alerts/rules/${id}`)).status, 404)
})

t.test('Rules of a deleted monitor or channel are not listed', async t => {
  const { call } = await api.account()
  const channels = [await addChannel(call, { is_default: true }), await addChannel(call, { is_default: true })]
  const [kept, deleted] = [await addMonitor(call), await addMonitor(call)]
  await execute(api.db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [deleted])
  await call(`DELETE /alerts/channels/${channels[0]}`)
  const { body } = await call('GET /alerts/rules')
  t.match(body.data, [{ monitor_id: kept, alert_channel_id: channels[1] }])
  t.equal(body.meta.total, 1)
})

t.test('GET, PUT and DELETE /alerts/rules/{id} 404 for a rule of another tenant', async t => {
  const { call } = await api.account()
  const other = await api.account()
  await addChannel(other.call, { is_default: true })
  await addMonitor(other.call)
  const before = await other.call('GET /alerts/rules')
  for (const id of ['nonsense', UNKNOWN, before.body.data[0].id]) {
    for (const [route, body] of [
      [`GET /alerts/rules/${id}`],
      [`PUT /alerts/rules/${id}`, { on_down: false }],
      [`DELETE /alerts/rules/${id}`],
    ] as const) {
      t.match(await call(route, body), { status: 404, body: { error: { message: 'rule not found' } } }, route)
    }
  }
  t.same((await other.call('GET /alerts/rules')).body, before.body)
})
