import { createHmac, timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { buildSignatureHeaders } from '../../../../control-plane/alerting/deliveries/rendering/signature.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const body = Buffer.from('{"event":"monitor.down","name":"Zürich ✓"}')
const base = { id: 'whd_1', eventName: 'monitor.down', body, secret, isReplay: false, reminder: null, now: new Date() }

t.test('The signature verifies over the raw body, as documented', async t => {
  const [algorithm, hex] = buildSignatureHeaders(base)['X-Service-Signature']!.split('=') as [string, string]
  t.equal(algorithm, 'sha256')
  const mine = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'))
  t.equal(mine.length, hex.length)
  t.ok(timingSafeEqual(mine, Buffer.from(hex)))
})

t.test('An independent Standard Webhooks library accepts the delivery and refuses a changed body', async t => {
  const headers = buildSignatureHeaders(base)
  t.same(new Webhook(secret).verify(body, headers), JSON.parse(body.toString()))
  t.throws(() => new Webhook(secret).verify(`${body} `, headers))
})

t.test('Only a replay carries X-Service-Delivery-Retry', async t => {
  t.notOk('X-Service-Delivery-Retry' in buildSignatureHeaders(base))
  t.equal(buildSignatureHeaders({ ...base, isReplay: true })['X-Service-Delivery-Retry'], 'true')
})

t.test('Only a reminder carries X-Service-Reminder, with its number', async t => {
  t.notOk('X-Service-Reminder' in buildSignatureHeaders(base))
  t.equal(buildSignatureHeaders({ ...base, reminder: 3 })['X-Service-Reminder'], '3')
})
