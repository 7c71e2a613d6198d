import t from 'tap'
import { getChannelKind } from '../../../../control-plane/alerting/channels/registry.ts'
import { buildEnvelope } from '../../../../control-plane/alerting/events/envelope.ts'

const chat = getChannelKind('chat_a')
const config = { installation_id: '0190a0a0-0000-7000-8000-000000000000', channel_id: 'C1', channel_name: '#ops' }
const context = { publicUrl: 'https://picket.test', reminder: null }
const at = '2026-11-21T10:00:00.000Z'
const incident = { id: 'i1', title: 'Shop is down', status: 'investigating', severity: 'major', started_at: at }
const data = {
  incident: { ...incident, resolved_at: null, acknowledged_at: null, acknowledged_by: null },
  update: null,
  monitors: [],
  dashboard_url: 'https://picket.test/incidents/i1',
  status_page_url: null,
}
const parseBody = (message: { body: Buffer }) => JSON.parse(message.body.toString('utf8'))

t.test('A message of the installed app names its channel, and its button acknowledges', async t => {
  const envelope = buildEnvelope({ name: 'incident.created', data }, 'whd_1', new Date(at))
  const message = chat.render(envelope, config, context)
  t.match(message, { via: 'http', url: 'chat.postMessage', byApp: true })
  t.notOk('authorization' in message.headers)
  const body = parseBody(message)
  t.equal(body.channel, 'C1')
  const [acknowledge, open] = body.blocks.find(({ type }: { type: string }) => type === 'actions').elements
  t.same([acknowledge.action_id, acknowledge.value, acknowledge.url], ['acknowledge', 'i1', undefined])
  t.equal(open.url, 'https://picket.test/incidents/i1')
})

t.test('A resolved incident has no acknowledge button', async t => {
  const over = { ...data, incident: { ...data.incident, status: 'resolved', resolved_at: at } }
  const envelope = buildEnvelope({ name: 'incident.resolved', data: over }, 'whd_1', new Date(at))
  t.notMatch(chat.render(envelope, config, context).body.toString('utf8'), /"acknowledge"/)
})

t.test('Digests are sent by the installed app', async t => {
  const changes = [{ name: 'Shop', status: 'down', at, url: 'https://picket.test/monitors/1' }]
  const digest = {
    deliveryId: 'whd_1',
    projectName: 'Acme',
    from: at,
    to: at,
    changes,
    dashboardUrl: 'https://picket.test/',
  }
  const message = chat.renderDigest!(digest, config, context)
  t.match(message, { url: 'chat.postMessage', byApp: true })
  t.match(parseBody(message), { channel: 'C1' })
  t.match(message.body.toString('utf8'), /1 monitor of Acme changed/)
})

t.test('A config with an installation has its id and its own address', async t => {
  t.equal(chat.getInstallationId!(config), config.installation_id)
  t.equal(chat.getInstallationId!({ webhook_url: 'https://hooks.example.com/x' }), null)
  t.not(chat.getAddress(config), chat.getAddress({ webhook_url: 'https://hooks.example.com/x' }))
  t.same(chat.mask({ ...config, api_token: 'x' }), { ...config, api_token: '********' })
  t.match(chat.unmask({ webhook_url: '********' }, config).problems, [{ path: 'config.webhook_url' }])
  t.same(chat.unmask(config, { webhook_url: 'https://hooks.example.com/x' }), { config, problems: [] })
})
