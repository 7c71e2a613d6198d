import t from 'tap'
import { createPicket, followEvents } from '../../deploy/client/index.ts'
import { shareApi } from '../support/api-server.ts'
import { unwrapAnswer, unwrapData } from '../support/client.ts'

const api = await shareApi()
const SHOP = { name: 'Shop', type: 'http', url: 'https://shop.example.com/' } as const

t.test('A monitor is created, read, listed, changed, paused, resumed and deleted through the client', async t => {
  const picket = api.picket((await api.tenant()).key)
  const made = await unwrapData(picket.createMonitor({ body: { ...SHOP, tags: ['shop'] } }))
  const path = { id: made.id }
  t.match(made, {
    name: 'Shop',
    type: 'http',
    interval_seconds: 60,
    status: null,
    configuration_issues: [/^no_probe: no live probe in us-east/],
  })
  const { guarantee, ...stored } = made
  t.same(await unwrapData(picket.readMonitor({ path })), stored)
  t.same(await unwrapData(picket.readMonitorGuarantee({ path })), guarantee)
  const { data, meta } = await unwrapAnswer(picket.listMonitors({ query: { tag: 'shop', per_page: 1 } }))
  t.same([data[0]?.id, meta.total], [made.id, 1])
  const changed = await unwrapData(picket.updateMonitor({ path, body: { name: 'Store', url: null } }))
  t.same([changed.name, changed.url, changed.configuration_issues.length], ['Store', null, 1])
  t.equal((await unwrapData(picket.pauseMonitor({ path }))).is_paused, true)
  t.equal((await unwrapData(picket.resumeMonitor({ path }))).is_paused, false)
  t.same((await unwrapAnswer(picket.listMonitorTransitions({ path }))).data, [])
  t.same(await unwrapData(picket.deleteMonitor({ path })), { id: made.id, deleted: true })
  const { error, response } = await picket.readMonitor({ path })
  t.match([response.status, error?.error], [404, { code: 'not_found', message: 'monitor not found', status: 404 }])
})

t.test('An error of the client names each field', async t => {
  const picket = api.picket((await api.tenant()).key)
  const { data, error } = await picket.createMonitor({ body: { ...SHOP, interval_seconds: 29, retry_count: 6 } })
  t.equal(data, undefined)
  t.same(error?.error.details?.map(({ path }) => path).sort(), ['interval_seconds', 'retry_count'])
  const { errors, monitors } = await unwrapAnswer(picket.createMonitors({ body: { monitors: [SHOP] } }))
  t.match([errors, monitors], [[], [{ name: 'Shop' }]])
})

t.test('An incident is opened, updated, acknowledged, resolved and deleted through the client', async t => {
  const picket = api.picket((await api.tenant()).key)
  const { id: monitorId } = await unwrapData(picket.createMonitor({ body: SHOP }))
  const body = { title: 'Payments fail', severity: 'critical', monitor_ids: [monitorId] } as const
  const { id } = await unwrapData(picket.createIncident({ body: { ...body, monitor_ids: [monitorId] } }))
  const path = { id }
  await unwrapData(picket.createIncidentUpdate({ path, body: { message: 'Found it.', status: 'identified' } }))
  t.ok((await unwrapData(picket.acknowledgeIncident({ path }))).acknowledged_at)
  t.equal((await unwrapData(picket.updateIncident({ path, body: { status: 'resolved' } }))).status, 'resolved')
  const { data: updates } = await unwrapAnswer(picket.listIncidentUpdates({ path }))
  t.same(
    updates.map(({ status }) => status),
    ['resolved', 'identified'],
  )
  const { data: resolved } = await unwrapAnswer(picket.listIncidents({ query: { status: 'resolved' } }))
  t.match(resolved, [{ id, severity: 'critical', monitors: [{ id: monitorId, name: 'Shop' }] }])
  t.equal((await unwrapData(picket.deleteIncident({ path }))).deleted, true)
})

t.test(
  'A channel is created with a rule through the client, and its secret is shown on creation and rotation',
  async t => {
    const picket = api.picket((await api.tenant()).key)
    const config = { url: 'https://hooks.example.com/picket' }
    const channel = await unwrapData(picket.createAlertChannel({ body: { name: 'Hook', type: 'webhook', config } }))
    const path = { id: channel.id }
    const { id: monitor_id } = await unwrapData(picket.createMonitor({ body: SHOP }))
    const rule = await unwrapData(picket.createAlertRule({ body: { monitor_id, alert_channel_id: channel.id } }))
    t.same((await unwrapAnswer(picket.listAlertRules({ query: { monitor_id } }))).data, [rule])
    const rotated = await unwrapData(picket.rotateAlertChannelSecret({ path }))
    t.match(rotated.signing_secret, /^whsec_/)
    t.not(rotated.signing_secret, channel.signing_secret)
    const entry = await unwrapData(picket.testAlertChannel({ path }))
    t.equal((await unwrapData(picket.readAlertLog({ path: { id: entry.id } }))).event, 'monitor.down')
    t.equal((await unwrapAnswer(picket.listAlertLog({ query: { channel_id: channel.id } }))).meta.total, 1)
    t.equal((await unwrapData(picket.deleteAlertRule({ path: { id: rule.id } }))).deleted, true)
    t.equal((await unwrapData(picket.deleteAlertChannel({ path }))).deleted, true)
  },
)

t.test('A status page with components and groups is created and published through the client', async t => {
  const picket = api.picket((await api.tenant()).key)
  const { id } = await unwrapData(picket.createStatusPage({ body: { name: 'Acme', slug: 'acme', template: 'modern' } }))
  const path = { id }
  const group = await unwrapData(picket.createStatusPageGroup({ path, body: { name: 'Europe' } }))
  const made = await unwrapData(picket.createStatusPageComponent({ path, body: { name: 'Shop', group_id: group.id } }))
  const other = await unwrapData(picket.createStatusPageComponent({ path, body: { name: 'Blog' } }))
  const { data: order } = await unwrapAnswer(
    picket.orderStatusPageComponents({ path, body: { component_ids: [other.id, made.id] } }),
  )
  t.same(
    order.map(component => component.name),
    ['Blog', 'Shop'],
  )
  t.equal((await unwrapData(picket.updateStatusPage({ path, body: { is_published: true } }))).is_published, true)
  t.match(await unwrapData(picket.readProject()), { status_pages: [{ id, slug: 'acme', is_published: true }] })
  t.equal((await unwrapData(picket.deleteStatusPage({ path }))).deleted, true)
})

t.test('A key is created through the client, and a missing or wrong key is a normal error', async t => {
  const picket = api.picket((await api.tenant()).key)
  const { key } = await unwrapData(picket.createApiKey({ body: { name: 'reader', scope: 'read' } }))
  const reader = api.picket(key)
  t.equal((await reader.createMonitor({ body: SHOP })).error?.error.code, 'insufficient_scope')
  t.equal((await unwrapAnswer(reader.listMonitors())).meta.total, 0)
  t.equal((await api.picket('svc_none').readProject()).response.status, 401)
  const account = await unwrapData(api.picket('').bootstrapAgent({ body: { email: 'ann@example.com' } }))
  t.equal((await unwrapData(api.picket(account.api_key).readProject())).limits.members.used, 1)
})

t.test('A client whose server is unreachable throws', async t => {
  const away = createPicket({ origin: 'http://127.0.0.1:9' })
  await t.rejects(away.readProject(), { message: /fetch failed/ })
})

t.test('followEvents yields the changes of a project, and throws for a wrong key', async t => {
  const { key } = await api.tenant()
  const { data: board } = await unwrapAnswer(api.picket(key).readMonitorBoard())
  await unwrapData(api.picket(key).createMonitor({ body: SHOP }))
  for await (const event of followEvents({ origin: api.origin, apiKey: key, since: board.revision })) {
    if (event.event !== 'board') continue
    t.same(event.data.changes?.monitors.name, ['Shop'])
    break
  }
  const refused = followEvents({ origin: api.origin, apiKey: 'svc_none' })
  const reason = await refused.next().catch(thrown => thrown)
  t.match(reason, { message: /./, error: { code: 'unauthorized', status: 401 } })
})
