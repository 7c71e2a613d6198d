import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { alertLogRoutes } from '../../control-plane/alerting/deliveries/log/routes.ts'
import { startDeliveryWorker } from '../../control-plane/alerting/deliveries/worker.ts'
import { channelRoutes } from '../../control-plane/alerting/routing/alert-channels/routes.ts'
import { listenForNotifications } from '../../control-plane/foundation/platform/postgres/listener.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { type ReceivedRequest, startReceiver } from '../support/receiver.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { waitFor } from '../support/wait.ts'

const log = createLog('test', 'silent')
const api = await createResourceApi(
  t,
  (app, handles) => {
    channelRoutes(app, handles)
    alertLogRoutes(app, { ...handles, retentionDays: 30 })
  },
  { egressAllow: ['127.0.0.0/8'] },
)
const worker = startDeliveryWorker({ ...api, visitorEgress: api.egress, log, metrics: createMetrics(), mailer: null })
const listener = listenForNotifications(api.url, ['deliveries'], worker.wake, log)
t.teardown(async () => {
  await listener.stop()
  await worker.stop()
})

function verify({ rawBody, headers }: ReceivedRequest, secret: string): void {
  const mac = createHmac('sha256', secret).update(rawBody).digest('hex')
  t.equal(headers['x-service-signature'], `sha256=${mac}`)
  t.ok(new Webhook(secret).verify(rawBody, headers as Record<string, string>))
}

t.test('A test arrives with the configured headers, signed with the secret of the create response', async t => {
  const { call } = await api.account()
  const receiver = await startReceiver(t)
  const config = { url: receiver.url, headers: { Authorization: 'Bearer hush' } }
  const created = await call('POST /alerts/channels', { name: 'Hook', type: 'webhook', config })
  const path = `/alerts/channels/${created.body.data.id}`
  const first = await call(`POST ${path}/test`)
  const [received] = await receiver.waitFor(1)
  verify(received!, created.body.data.signing_secret)
  t.match(received?.headers, {
    authorization: 'Bearer hush',
    'content-type': 'application/json',
    'x-service-event': 'monitor.down',
    'x-service-delivery': first.body.data.delivery_id,
  })
  t.match(received?.json, {
    api_version: '1',
    event: 'monitor.down',
    data: { monitor: { name: 'Test of the channel Hook' } },
  })

  const rotated = await call(`POST ${path}/rotate-secret`)
  const masked = (await call(`GET ${path}`)).body.data.config
  t.same(masked.headers, { Authorization: '********' })
  t.equal((await call(`PUT ${path}`, { config: masked })).status, 200)
  const second = await call(`POST ${path}/test`)
  const [, again] = await receiver.waitFor(2)
  verify(again!, rotated.body.data.signing_secret)
  t.equal(again?.headers.authorization, 'Bearer hush', 'a mask that was sent back kept the secret')
  const entry = () => call(`GET /alerts/log/${second.body.data.id}`)
  await waitFor(async () => (await entry()).body.data.status === 'delivered', { label: 'the log entry' })
  t.notOk(JSON.stringify((await entry()).body).includes('hush'), 'the log shows no secret')
})
