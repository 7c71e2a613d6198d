import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { confirmAddresses } from '../support/addresses.ts'
import { findAnswerDifferences } from '../support/answers.ts'
import { startApi } from '../support/api-server.ts'
import { readOperations } from '../support/operations.ts'
import { startReceiver } from '../support/receiver.ts'
import { createRecords } from '../support/records.ts'
import { startSmtp } from '../support/smtp.ts'
import { readTables } from '../support/stored.ts'

const smtp = await startSmtp(t)
const api = await startApi(t, { SMTP_URL: smtp.url })
const { operations } = await readOperations(api)
const operation = operations.find(({ name }) => name === 'POST /alerts/channels/test')!
const receiver = await startReceiver(t)

async function send(key: string, type: string, config: object, name = 'Ops') {
  const { status, body } = await api.call('POST', '/alerts/channels/test', { key, body: { name, type, config } })
  t.same(findAnswerDifferences(operation, status, body), [], `${type} ${status}`)
  return { status, body }
}

t.test('POST /alerts/channels/test 200 sends a signed test event and returns the request and the answer', async t => {
  const { key } = await api.tenant()
  const before = await readTables(api.db)
  receiver.answerWith({ status: 202, body: 'got Bearer hush and hush' })
  const headers = { Authorization: 'Bearer hush', 'X-Team': 'ops' }
  const { status, body } = await send(key, 'webhook', { url: `${receiver.url}/in`, headers })
  t.equal(status, 200)
  const [received] = await receiver.waitFor(1)
  const { data } = body
  t.match(received!.headers, { authorization: 'Bearer hush', 'x-team': 'ops', 'x-service-delivery': data.delivery_id })
  t.match(received!.json, { event: 'monitor.down', data: { monitor: { name: 'Test of the channel Ops' } } })
  const mac = createHmac('sha256', data.signing_secret).update(received!.rawBody).digest('hex')
  t.equal(received!.headers['x-service-signature'], `sha256=${mac}`)
  t.ok(new Webhook(data.signing_secret).verify(received!.rawBody, received!.headers as Record<string, string>))
  t.match(data, {
    delivery_id: /^whd_[0-9a-f]{32}$/,
    event: 'monitor.down',
    delivered: true,
    attempt: { at: /^2/, response_code: 202, duration_ms: Number, error: null },
    request_url: `${receiver.url}/in`,
    request_body: received!.rawBody,
  })
  t.equal(data.request_headers.authorization, '********')
  t.equal(data.request_headers['x-team'], 'ops')
  t.equal(data.request_headers['webhook-signature'], received!.headers['webhook-signature'])
  t.equal(data.attempt.response_snippet, 'got ******** and ********', 'a receiver may repeat a secret')
  t.notOk(JSON.stringify(body).includes('hush'))
  t.same(await readTables(api.db), before, 'nothing is stored')
  t.equal((await api.call('GET', '/alerts/log', { key })).body.meta.total, 0)
  t.equal((await api.call('GET', `/alerts/log/${data.delivery_id}`, { key })).status, 404)
})

t.test('POST /alerts/channels/test 200 returns the failure of a receiver, after one attempt', async t => {
  const { key } = await api.tenant()
  const sent = receiver.received.length
  receiver.answerWith({ status: 500, body: 'broken' })
  t.match((await send(key, 'webhook', { url: receiver.url })).body.data, {
    delivered: false,
    attempt: { response_code: 500, error: null, response_snippet: 'broken' },
    request_url: receiver.url,
  })
  receiver.answerWith('reset')
  t.match((await send(key, 'webhook', { url: receiver.url })).body.data, {
    delivered: false,
    attempt: { response_code: null, error: String, response_snippet: null },
  })
  t.equal(receiver.received.length, sent + 2, 'no retry')
})

t.test('POST /alerts/channels/test 200 masks the address of a chat', async t => {
  const { key } = await api.tenant()
  const { body } = await send(key, 'chat_a', { webhook_url: `${receiver.url}/services/T0/B0/a-secret` })
  t.equal(receiver.received.at(-1)!.path, '/hook/services/T0/B0/a-secret')
  t.equal(body.data.signing_secret, null)
  t.notOk(JSON.stringify(body).includes('a-secret'))
})

t.test(
  'POST /alerts/channels/test 200 sends mail to confirmed addresses only, and requests no confirmation',
  async t => {
    const { key, organizationId } = await api.tenant()
    await confirmAddresses(api.db, organizationId, 'ops@example.com')
    const before = (await readTables(api.db)).mail_addresses
    const both = (await send(key, 'email', { to: ['ops@example.com', 'victim@example.com'] })).body.data
    t.match(both, { delivered: true, request_url: 'mailto:ops@example.com' })
    t.match(both.attempt.error, /^not sent to victim@example.com: the address is not confirmed/)
    const none = (await send(key, 'email', { to: ['victim@example.com'] })).body.data
    t.match(none, { delivered: false, request_url: null, request_headers: null, request_body: null })
    t.match(none.attempt, { response_code: null, error: /^not sent to victim@example.com/ })
    t.same(
      smtp.mails.map(({ to }) => to),
      [['ops@example.com']],
    )
    t.same((await readTables(api.db)).mail_addresses, before)
  },
)

t.test('POST /alerts/channels/test 400 for the configs that a create refuses', async t => {
  const { key } = await api.tenant()
  const sent = receiver.received.length
  const rows: [string, object, string][] = [
    ['webhook', {}, 'config'],
    ['webhook', { url: 'ftp://example.com' }, 'config.url'],
    ['webhook', { url: 'http://169.254.169.254/latest' }, 'config.url'],
    ['webhook', { url: receiver.url, headers: { Authorization: '********' } }, 'config.headers.Authorization'],
    ['webhook', { url: receiver.url, headers: { 'X-Service-Event': 'x' } }, 'config.headers.X-Service-Event'],
    ['email', { to: [] }, 'config.to'],
    ['pager', { url: receiver.url }, 'type'],
  ]
  for (const [type, config, path] of rows) {
    const { status, body } = await send(key, type, config)
    t.equal(status, 400, JSON.stringify(config))
    t.match(body.error.details[0].path, path)
  }
  t.equal(receiver.received.length, sent)
})

t.test('POST /alerts/channels/test 200 sends nothing to a name with a private address', async t => {
  const guarded = await startApi(t, { EGRESS_ALLOW: '' })
  const { key } = await guarded.tenant()
  const config = { url: receiver.url.replace('127.0.0.1', 'localhost') }
  const body = { name: 'Ops', type: 'webhook', config }
  const sent = receiver.received.length
  const { status, body: answer } = await guarded.call('POST', '/alerts/channels/test', { key, body })
  t.equal(status, 200)
  t.match(answer.data, {
    delivered: false,
    attempt: { response_code: null, error: /not allowed|private|blocked|loopback/ },
  })
  t.equal(receiver.received.length, sent)
})

t.test('POST /alerts/channels/test 403 with a read key, 401 without one', async t => {
  const account = await api.tenant()
  const body = { name: 'Ops', type: 'webhook', config: { url: receiver.url } }
  const sent = receiver.received.length
  const key = await api.createKey(account, 'read')
  t.equal((await api.call('POST', '/alerts/channels/test', { key, body })).status, 403)
  t.equal((await api.call('POST', '/alerts/channels/test', { key: null, body })).status, 401)
  t.equal(receiver.received.length, sent)
  const write = await api.createKey(account, 'write')
  t.equal((await api.call('POST', '/alerts/channels/test', { key: write, body })).status, 200)
})

t.test('POST /alerts/channels/test 404 for the chat installation of another tenant', async t => {
  const { key } = await api.tenant()
  const theirs = await api.tenant('business')
  const { chat_installation_id: installation } = await createRecords(api, theirs)
  for (const id of [installation, '01a1fb92-bd2c-74bd-b89d-7c289ceb0999', 'x']) {
    t.equal((await send(key, 'chat_a', { installation_id: id, channel_id: 'C0123' })).status, 404, id)
  }
  const own = { installation_id: installation, channel_id: 'C0123' }
  const { data } = (await send(theirs.key, 'chat_a', own)).body
  t.match(data, { delivered: false, request_url: null, attempt: { error: /removed the app/ } })
})

t.test('POST /alerts/channels/test 409 for a relay source of another project', async t => {
  const relay = await startReceiver(t)
  const relayed = await startApi(t, { RELAY_URL: relay.url })
  const [mine, other] = [await relayed.tenant(), await relayed.tenant()]
  const config = { url: 'https://hooks.example.com/picket', relay_source_id: 'mine' }
  const body = { name: 'Ops', type: 'webhook', config }
  t.equal((await relayed.call('POST', '/alerts/channels', { key: mine.key, body })).status, 201)
  const test = (key: string) => relayed.call('POST', '/alerts/channels/test', { key, body })
  t.match(await test(other.key), { status: 409, body: { error: { code: 'conflict' } } })
  t.equal(relay.received.length, 0)
  t.match(await test(mine.key), { status: 200, body: { data: { delivered: true } } })
  t.equal(relay.received.length, 1)
})

t.test('POST /alerts/channels/test 429 beyond the tests of a minute, for this project only', async t => {
  const limited = await startApi(t, { TESTS_PER_MINUTE: '2' })
  const [account, other] = [await limited.tenant(), await limited.tenant()]
  const body = { name: 'Ops', type: 'webhook', config: { url: receiver.url } }
  const test = (key: string) => limited.call('POST', '/alerts/channels/test', { key, body })
  // a minute may end between two requests
  const statuses = []
  for (let i = 0; i < 5; i++) statuses.push((await test(account.key)).status)
  t.ok(statuses.includes(429), statuses.join())
  t.equal((await test(other.key)).status, 200)
})
