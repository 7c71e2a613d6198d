import t from 'tap'
import { webhook } from '../../../../control-plane/alerting/channels/kinds/webhook.ts'
import { buildEnvelope } from '../../../../control-plane/alerting/events/envelope.ts'

const incident = { title: 'Mail is slow', severity: 'minor', status: 'open', source_url: 'https://status.example.com' }
const data = { vendor: { name: 'Mail', category: 'mail' }, incident }
const context = { publicUrl: 'https://picket.test', reminder: null }
const envelope = buildEnvelope({ name: 'vendor.down', data }, 'whd_1', new Date('2026-08-01T12:00:00.123Z'))

t.test('A webhook posts the envelope as JSON', async t => {
  const { via, url, headers, body } = webhook.render(envelope, { url: 'https://hooks.example.com/x?y=z' }, context)
  t.equal(via, 'http')
  t.equal(url, 'https://hooks.example.com/x?y=z')
  t.same(headers, { 'content-type': 'application/json', 'user-agent': 'Picket-Webhook/1' })
  t.same(JSON.parse(body.toString('utf8')), {
    api_version: '1',
    event: 'vendor.down',
    delivery_id: 'whd_1',
    delivered_at: '2026-08-01T12:00:00.123Z',
    data,
  })
})

t.test('Configured headers are sent and can replace the user agent', async t => {
  const config = { url: 'https://hooks.example.com', headers: { 'X-Team': 'Küche', 'User-Agent': 'mine' } }
  const { headers } = webhook.render(envelope, config, context)
  t.same(headers, { 'content-type': 'application/json', 'user-agent': 'mine', 'x-team': 'Küche' })
})

t.test('The same event and config give the same bytes', async t => {
  const config = { url: 'https://hooks.example.com' }
  t.same(webhook.render(envelope, config, context), webhook.render(envelope, config, context))
})

t.test('Sensitive headers are masked, and a mask that is sent back keeps the stored value', async t => {
  const stored = { url: 'https://a.example.com', headers: { 'X-Auth-Token': 'hush', Accept: 'a' } }
  const masked = webhook.mask(stored)
  t.same(masked, { url: stored.url, headers: { 'X-Auth-Token': '********', Accept: 'a' } })
  t.same(webhook.unmask(masked, stored), { config: stored, problems: [] })
  t.match(webhook.unmask(masked, null).problems, [{ path: 'config.headers.X-Auth-Token' }])
  t.same(webhook.unmask({ url: stored.url }, stored), { config: { url: stored.url }, problems: [] })
})

t.test('The egress guard checks a literal address in every spelling', async t => {
  const asked: string[] = []
  const refuse = (host: string) => {
    asked.push(host)
    return 'no'
  }
  for (const url of ['http://127.1/', 'http://[::1]:8080/', 'https://example.com']) {
    t.same(webhook.findProblems({ url }, refuse), [{ path: 'config.url', message: 'blocked_target: no' }])
  }
  t.same(asked, ['127.0.0.1', '[::1]', 'example.com'])
})
