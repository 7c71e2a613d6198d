import t from 'tap'
import { createPicket } from '../../deploy/client/index.ts'
import { startApi } from '../support/api-server.ts'
import { answerOf, dataOf } from '../support/client.ts'

const api = await startApi(t)
const SHOP = { name: 'Shop', type: 'http', url: 'https://shop.example.com/' } as const

t.test('A monitor is created, read, listed, changed, paused, resumed and deleted through the client', async t => {
  const picket = api.picket((await api.tenant()).key)
  const made = await dataOf(picket.createMonitor({ body: { ...SHOP, tags: ['shop'] } }))
  const path = { id: made.id }
  t.match(made, {
    name: 'Shop',
    type: 'http',
    interval_seconds: 60,
    status: null,
    configuration_issues: [/^no_probe: no live probe in us-east/],
  })
  const { guarantee, ...stored } = made
  t.same(await dataOf(picket.readMonitor({ path })), stored)
  t.same(await dataOf(picket.readMonitorGuarantee({ path })), guarantee)
  const { data, meta } = await answerOf(picket.listMonitors({ query: { tag: 'shop', per_page: 1 } }))
  t.same([data[0]?.id, meta.total], [made.id, 1])
  const changed = await dataOf(picket.updateMonitor({ path, body: { name: 'Store', url: null } }))
  t.same([changed.name, changed.url, changed.configuration_issues.length], ['Store', null, 1])
  t.equal((await dataOf(picket.pauseMonitor({ path }))).is_paused, true)
  t.equal((await dataOf(picket.resumeMonitor({ path }))).is_paused, false)
  t.same((await answerOf(picket.listMonitorTransitions({ path }))).data, [])
  t.same(await dataOf(picket.deleteMonitor({ path })), { id: made.id, deleted: true })
  const { error, response } = await picket.readMonitor({ path })
  t.match([response.status, error?.error], [404, { code: 'not_found', message: 'monitor not found', status: 404 }])
})

t.test('An error of the client names each field', async t => {
  const picket = api.picket((await api.tenant()).key)
  const { data, error } = await picket.createMonitor({ body: { ...SHOP, interval_seconds: 29, retry_count: 6 } })
  t.equal(data, undefined)
  t.same(error?.error.details?.map(({ path }) => path).sort(), ['interval_seconds', 'retry_count'])
  const { errors, monitors } = await answerOf(picket.createMonitors({ body: { monitors: [SHOP] } }))
  t.match([errors, monitors], [[], [{ name: 'Shop' }]])
})

t.test('An incident is opened, updated, acknowledged, resolved and deleted through the client', async t => {
  const picket = api.picket((await api.tenant()).key)
  const { id: monitorId } = await dataOf(picket.createMonitor({ body: SHOP }))
  const body = { title: 'Payments fail', severity: 'critical', monitor_ids: [monitorId] } as const
  const { id } = await dataOf(picket.createIncident({ body: { ...body, monitor_ids: [monitorId] } }))
  const path = { id }
  await dataOf(picket.createIncidentUpdate({ path, body: { message: 'Found it.', status: 'identified' } }))
  t.ok((await dataOf(picket.acknowledgeIncident({ path }))).acknowledged_at)
  t.equal((await dataOf(picket.updateIncident({ path, body: { status: 'resolved' } }))).status, 'resolved')
  const { data: updates } = await answerOf(picket.listIncidentUpdates({ path }))
  t.same(
    updates.map(({ status }) => status),
    ['resolved', 'identified'],
  )
  const { data: resolved } = await answerOf(picket.listIncidents({ query: { status: 'resolved' } }))
  t.match(resolved, [{ id, severity: 'critical', monitors: [{ id: monitorId, name: 'Shop' }] }])
  t.equal((await dataOf(picket.deleteIncident({ path }))).deleted, true)
})

t.test(
  'A channel is created with a rule through the client, and its secret is shown on creation and rotation',
  async t => {
    const picket = api.picket((await api.tenant()).key)
    const config = { url: 'https://hooks.example.com/picket' }
    const channel = await dataOf(picket.createAlertChannel({ body: { name: 'Hook', type: 'webhook', config } }))
    const path = { id: channel.id }
    const { id: monitor_id } = await dataOf(picket.createMonitor({ body: SHOP }))
    const rule = await dataOf(picket.createAlertRule({ body: { monitor_id, alert_channel_id: channel.id } }))
    t.same((await answerOf(picket.listAlertRules({ query: { monitor_id } }))).data, [rule])
    const rotated = await dataOf(picket.rotateAlertChannelSecret({ path }))
    t.match(rotated.signing_secret, /^whsec_/)
    t.not(rotated.signing_secret, channel.signing_secret)
    const entry = await dataOf(picket.testAlertChannel({ path }))
    t.equal((await dataOf(picket.readAlertLog({ path: { id: entry.id } }))).event, 'monitor.down')
    t.equal((await answerOf(picket.listAlertLog({ query: { channel_id: channel.id } }))).meta.total, 1)
    t.equal((await dataOf(picket.deleteAlertRule({ path: { id: rule.id } }))).deleted, true)
    t.equal((await dataOf(picket.deleteAlertChannel({ path }))).deleted, true)
  },
)

t.test('A status page with components and groups is created and published through the client', async t => {
  const picket = api.picket((await api.tenant()).key)
  const { id } = await dataOf(picket.createStatusPage({ body: { name: 'Acme', slug: 'acme', template: 'modern' } }))
  const path = { id }
  const group = await dataOf(picket.createStatusPageGroup({ path, body: { name: 'Europe' } }))
  const made = await dataOf(picket.createStatusPageComponent({ path, body: { name: 'Shop', group_id: group.id } }))
  const other = await dataOf(picket.createStatusPageComponent({ path, body: { name: 'Blog' } }))
  const { data: order } = await answerOf(
    picket.orderStatusPageComponents({ path, body: { component_ids: [other.id, made.id] } }),
  )
  t.same(
    order.map(component => component.name),
    ['Blog', 'Shop'],
  )
  t.equal((await dataOf(picket.updateStatusPage({ path, body: { is_published: true } }))).is_published, true)
  t.match(await dataOf(picket.readProject()), { status_pages: [{ id, slug: 'acme', is_published: true }] })
  t.equal((await dataOf(picket.deleteStatusPage({ path }))).deleted, true)
})

t.test('A key is created through the client, and a missing or wrong key is a normal error', async t => {
  const picket = api.picket((await api.tenant()).key)
  const { key } = await dataOf(picket.createApiKey({ body: { name: 'reader', scope: 'read' } }))
  const reader = api.picket(key)
  t.equal((await reader.createMonitor({ body: SHOP })).error?.error.code, 'insufficient_scope')
  t.equal((await answerOf(reader.listMonitors())).meta.total, 0)
  t.equal((await api.picket('svc_none').readProject()).response.status, 401)
  const account = await dataOf(api.picket('').bootstrapAgent({ body: { email: 'ann@example.com' } }))
  t.equal((await dataOf(api.picket(account.api_key).readProject())).limits.members.used, 1)
})

t.test('A client whose server is unreachable throws', async t => {
  const away = createPicket({ origin: 'http://127.0.0.1:9' })
  await t.rejects(away.readProject(), { message: /fetch failed/ })
})
