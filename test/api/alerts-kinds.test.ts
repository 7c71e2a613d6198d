import t from 'tap'
import { decryptConfig } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { alertLogRoutes } from '../../control-plane/alerting/deliveries/log/routes.ts'
import { startDeliveryWorker } from '../../control-plane/alerting/deliveries/worker.ts'
import { channelRoutes } from '../../control-plane/alerting/routing/alert-channels/routes.ts'
import { createMailer } from '../../control-plane/foundation/platform/mail/mailer.ts'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listenForNotifications } from '../../control-plane/foundation/platform/postgres/listener.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { confirmAddresses } from '../support/addresses.ts'
import { startReceiver } from '../support/receiver.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { startSmtp } from '../support/smtp.ts'
import { waitFor } from '../support/wait.ts'

const log = createLog('test', 'silent')
const smtp = await startSmtp(t)
const mailer = createMailer(smtp.url, 'Picket <picket@example.com>')
t.teardown(mailer.close)

type Api = Awaited<ReturnType<typeof startWith>>

/** The API and a worker. Without a mailer it is an installation without SMTP_URL. */
async function startWith(given: typeof mailer | null) {
  const api = await createResourceApi(
    t,
    (app, handles) => {
      channelRoutes(app, handles)
      alertLogRoutes(app, { ...handles, retentionDays: 30 })
    },
    { egressAllow: ['127.0.0.0/8'] },
  )
  const worker = startDeliveryWorker({
    ...api,
    visitorEgress: api.egress,
    log,
    metrics: createMetrics(),
    mailer: given,
  })
  const listener = listenForNotifications(api.url, ['deliveries'], worker.wake, log)
  t.teardown(async () => {
    await listener.stop()
    await worker.stop()
  })
  const account = await api.account()
  await confirmAddresses(api.db, account.organizationId, 'ops@example.com', 'on-call@example.com')
  return { ...api, ...account }
}

const api = await startWith(mailer)
const { call } = api

const create = async ({ call }: Pick<Api, 'call'>, type: string, config: object, name = 'Ops') =>
  (await call('POST /alerts/channels', { name, type, config })).body.data

/** Sends a test and returns its log entry after it has ended. */
async function sendTest({ call }: Pick<Api, 'call'>, id: string) {
  const queued = await call(`POST /alerts/channels/${id}/test`)
  const read = async () => (await call(`GET /alerts/log/${queued.body.data.id}`)).body.data
  return waitFor(async () => ((await read()).status === 'pending' ? null : read()), { label: 'the end of a test' })
}

t.test('POST /alerts/channels 400 names the invalid field in the config of each kind', async t => {
  const rows: [string, object, string][] = [
    ['email', {}, 'config.to'],
    ['email', { to: 'ops@example.com' }, 'config.to'],
    ['email', { to: [] }, 'config.to'],
    ['email', { to: Array.from({ length: 21 }, (_, i) => `a${i}@example.com`) }, 'config.to'],
    ['email', { to: ['ops@example.com', 'nobody'] }, 'config.to[1]'],
    ['email', { to: [5] }, 'config.to[0]'],
    ['email', { to: ['a@example.com\r\nBcc: b@example.com'] }, 'config.to[0]'],
    ['email', { to: ['a@example.com,b@example.com'] }, 'config.to[0]'],
    ['email', { to: ['Ops <a@example.com>'] }, 'config.to[0]'],
    ['email', { to: ['a@example.com', 'A@Example.com'] }, 'config.to[1]'],
    ['email', { to: ['ops@example.com'], api_key: '********' }, 'config.api_key'],
    ...['chat_a', 'chat_b', 'chat_c'].flatMap((type): [string, object, string][] => [
      [type, {}, 'config.webhook_url'],
      [type, { webhook_url: 5 }, 'config.webhook_url'],
      [type, { webhook_url: '' }, 'config.webhook_url'],
      [type, { webhook_url: 'ftp://example.com' }, 'config.webhook_url'],
      [type, { webhook_url: 'https://a:b@example.com/x' }, 'config.webhook_url'],
      [type, { webhook_url: 'https://example.com/\r\nHost: x' }, 'config.webhook_url'],
      [type, { webhook_url: 'http://10.0.0.1/x' }, 'config.webhook_url'],
      [type, { webhook_url: 'http://[::ffff:a00:1]/x' }, 'config.webhook_url'],
      [type, { webhook_url: '********' }, 'config.webhook_url'],
      [type, { webhook_url: 'https://example.com/********' }, 'config.webhook_url'],
    ]),
  ]
  for (const [type, config, path] of rows) {
    const { status, body } = await call('POST /alerts/channels', { name: 'Ops', type, config })
    t.match(
      { status, ...body },
      { status: 400, error: { code: 'validation_error', details: [{ path }] } },
      `${type} ${JSON.stringify(config)}`,
    )
  }
  t.equal((await call('GET /alerts/channels')).body.meta.total, 0)
})

t.test('Secrets within objects and lists of a config are masked, and kept when they are sent back', async t => {
  const secret = { api_key: 'hush', deep: [{ token: 'hush', note: 'seen' }], password: { parts: ['hush'] } }
  const config = { url: 'https://hooks.example.com/x', more: secret }
  const { id } = await create(api, 'webhook', config)
  const read = async () => (await call(`GET /alerts/channels/${id}`)).body.data.config
  const masked = { api_key: '********', deep: [{ token: '********', note: 'seen' }], password: '********' }
  t.same((await read()).more, masked)
  const stored = async () => {
    const [row] = await query<{ id: string; projectId: string; config: Buffer }>(
      api.db,
      'SELECT id, project_id AS "projectId", config FROM alert_channels WHERE id = ?',
      [id],
    )
    return decryptConfig(row!, api.secrets)
  }
  t.match(await call(`PUT /alerts/channels/${id}`, { config: { ...config, more: masked } }), { status: 200 })
  t.same(await stored(), config)
  const moved = { ...config, more: { deep: [{}, { token: '********' }] } }
  t.match(await call(`PUT /alerts/channels/${id}`, { config: moved }), {
    status: 400,
    body: { error: { details: [{ path: 'config.more.deep[1].token' }] } },
  })
  t.same(await stored(), config)
})

t.test(
  'GET /alerts/channels/{id} shows the origin of a chat’s address only; a masked address that is sent back keeps the stored one',
  async t => {
    const address = 'https://chat.example.com/services/T0/B0/hush'
    for (const type of ['chat_a', 'chat_b', 'chat_c']) {
      const created = await create(api, type, { webhook_url: address })
      const masked = { webhook_url: 'https://chat.example.com/********' }
      t.match(created, { type, config: masked, signing_secret: null })
      const path = `/alerts/channels/${created.id}`
      for (const sent of [masked, { webhook_url: '********' }]) {
        t.match(await call(`PUT ${path}`, { config: sent }), { status: 200, body: { data: { config: masked } } })
      }
      const elsewhere = await call(`PUT ${path}`, { config: { webhook_url: 'https://evil.example/********' } })
      t.match(elsewhere, { status: 400, body: { error: { details: [{ path: 'config.webhook_url' }] } } })
      t.match(await call(`POST ${path}/rotate-secret`), { status: 409, body: { error: { code: 'conflict' } } })
    }
    const rows = await query<{ row: string }>(api.db, 'SELECT alert_channels::text AS row FROM alert_channels')
    t.notOk(rows.some(({ row }) => row.includes('hush') || row.includes(Buffer.from('hush').toString('hex'))))
  },
)

t.test(
  'A test reaches each chat in its own format, and neither the log nor the database contains the address',
  async t => {
    const forms: Record<string, object> = {
      chat_a: { blocks: [{ type: 'header', text: { text: '🔴 Test of the channel Ops is down' } }] },
      chat_b: { allowed_mentions: { parse: [] }, embeds: [{ title: 'Test of the channel Ops is down' }] },
      chat_c: { type: 'message', attachments: [{ content: { type: 'AdaptiveCard' } }] },
    }
    for (const [type, form] of Object.entries(forms)) {
      const receiver = await startReceiver(t)
      const address = `${receiver.url}/hush-hush?token=abc`
      const { id } = await create(api, type, { webhook_url: address })
      // as a server that does not know an address
      receiver.always({ status: 404, body: 'Cannot POST /hook/hush-hush?token=abc' })
      const failed = await sendTest(api, id)
      t.match(failed, {
        status: 'failed',
        attempts: [{ response_code: 404, response_snippet: 'Cannot POST ********' }],
      })
      receiver.always(200)
      const entry = await sendTest(api, id)
      t.match(entry, { status: 'delivered', request_url: `${new URL(address).origin}/********` })
      t.match(receiver.received.at(-1), { path: '/hook/hush-hush?token=abc', json: form })
      t.notOk(
        Object.keys(receiver.received[0]?.headers ?? {}).some(name => /^(x-service|webhook)-/.test(name)),
        'unsigned',
      )
      t.notMatch(JSON.stringify([failed, entry]), 'hush-hush')
    }
    const rows = await query<{ row: string }>(api.db, 'SELECT deliveries::text AS row FROM deliveries')
    t.notOk(rows.some(({ row }) => row.includes('hush-hush')))
  },
)

t.test('A test arrives as a mail, and the log shows the whole mail', async t => {
  const { id } = await create(api, 'email', { to: ['ops@example.com', 'on-call@example.com'] })
  const entry = await sendTest(api, id)
  const mail = smtp.mails.at(-1)
  t.match(entry, {
    status: 'delivered',
    request_url: 'mailto:ops@example.com,on-call@example.com',
    attempts: [{ response_code: 250, error: null, response_snippet: /^250 / }],
  })
  t.match(mail, { from: 'picket@example.com', to: ['ops@example.com', 'on-call@example.com'] })
  t.match(mail?.headers, {
    subject: 'Test of the channel Ops is down',
    'message-id': `<${entry.delivery_id}@picket.test>`,
  })
  t.match(mail?.text, /This is a test\. Nothing is down\./)
  t.match(JSON.parse(entry.request_body), { subject: 'Test of the channel Ops is down' })
})

t.test(
  'A 4xx of the mail server is retried with the same mail, a 5xx is final, and a replay sends the same mail',
  async t => {
    const { id } = await create(api, 'email', { to: ['ops@example.com'] })
    smtp.replyWith('451 4.7.1 Greylisted')
    const put = await sendTest(api, id)
    t.match(put, {
      status: 'delivered',
      attempts: [{ response_code: 451, response_snippet: /Greylisted/ }, { response_code: 250 }],
    })
    smtp.replyWith('550 5.7.1 Not wanted')
    const refused = await sendTest(api, id)
    t.match(refused, {
      status: 'failed',
      attempts: [{ response_code: 550, error: /refused/, response_snippet: /Not wanted/ }],
    })
    t.equal(refused.attempts.length, 1)
    const before = smtp.mails.length
    t.equal((await call(`POST /alerts/log/${put.id}/retry`)).status, 200)
    await smtp.waitFor(before + 1)
    t.equal(smtp.mails.at(-1)?.raw, smtp.mails[before - 1]?.raw)
  },
)

t.test(
  'Without a mail server a channel of type email can be created, and its deliveries report the missing setting',
  async t => {
    const without = await startWith(null)
    const { id } = await create(without, 'email', { to: ['ops@example.com'] })
    const { status, attempts } = await sendTest(without, id)
    t.match(attempts, [{ response_code: null, error: 'email is not configured: set SMTP_URL' }])
    t.same([status, attempts.length], ['failed', 1])
  },
)
