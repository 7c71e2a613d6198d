import { randomBytes } from 'node:crypto'
import t from 'tap'
import { decryptSigningSecret } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { signBody } from '../../control-plane/alerting/deliveries/rendering/signature.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createSigner } from '../../control-plane/foundation/platform/crypto/signer.ts'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createCanaries } from '../../control-plane/insight/canaries/actions.ts'
import {
  buildReceiverUrl,
  buildTargetUrl,
  CANARY_KEY_PURPOSE,
} from '../../control-plane/insight/canaries/canary-urls.ts'
import { FAILURE_KINDS, type FailureKind } from '../../control-plane/insight/canaries/schedule.ts'
import { findReceiverChannel } from '../../control-plane/insight/canaries/store.ts'
import { startApi } from '../support/api-server.ts'
import { canaryTools, findCanary, insertProbe, makeOperator } from '../support/canaries.ts'

const key = randomBytes(32)
const api = await startApi(t, { SECRET_KEY: key.toString('base64') })
const sign = createSigner(key, CANARY_KEY_PURPOSE)
const ALWAYS = { region: 'us-east' as const, everySeconds: 600, forSeconds: 600, kinds: ['status' as const] }
const get = (path: string) => api.call('GET', `${api.origin}${path}`, { key: null })

t.test('A canary target responds by its schedule at its signed address, and 404 elsewhere', async t => {
  const always = ALWAYS
  const failing = await get(buildTargetUrl('', always, sign))
  t.equal(failing.status, 503)
  t.match(failing.body, /^planned failure \(status\) until \d{4}-/)
  t.equal(failing.headers.get('cache-control'), 'no-store')
  const never = await get(buildTargetUrl('', { ...always, forSeconds: 0 }, sign))
  t.same([never.status, never.body], [200, 'OK'])
  const url = buildTargetUrl('', always, sign)
  const others = [
    url.replace('us-east', 'eu-west'),
    url.replace('us-east', 'moon'),
    url.replace('every=600', 'every=601'),
    `${url}&kinds=hang`,
    `${url}&kinds=none`,
    url.slice(0, -1),
    url.split('&key')[0]!,
    `${url}&key=`,
    '/canary/us-east',
    '/canary/',
  ]
  for (const other of others) t.equal((await get(other)).status, 404, other)
})

t.test('A planned failure has the response of its kind', async t => {
  const failing = (kind: FailureKind) => get(buildTargetUrl('', { ...ALWAYS, kinds: [kind] }, sign))
  t.equal((await failing('status')).status, 503)
  const wrong = await failing('wrong')
  t.equal(wrong.status, 200)
  t.match(wrong.body, /^planned failure \(wrong\)/)
  await t.rejects(failing('refuse'), 'the connection is closed')
  const startedMs = performance.now()
  t.equal((await failing('slow')).status, 503)
  t.ok(performance.now() - startedMs >= 7_900, 'a slow response takes 8 s')
})

t.test('A hanging failure gives no response and releases disconnected clients', async t => {
  const url = `${api.origin}${buildTargetUrl('', { ...ALWAYS, kinds: ['hang'] }, sign)}`
  // more than the maximum that is held
  for (let round = 0; round < 3; round++) {
    const clients = new AbortController()
    let ended = 0
    const end = () => void ended++
    const asked = Array.from({ length: 100 }, () => fetch(url, { signal: clients.signal }).then(end, end))
    // requests that came later are answered
    for (let later = 0; later < 100; later++) await get('/canary/other')
    t.equal(ended, 0, 'no answer, and no connection was closed')
    clients.abort()
    await Promise.all(asked)
  }
})

t.test('The receiver accepts only bodies that are signed with the secret of its channel', async t => {
  const post = (url: string, body: string, signature: string | null) =>
    api.call('POST', `${api.origin}${url}`, {
      key: null,
      body,
      headers: { 'idempotency-key': 'x', ...(signature !== null && { 'x-service-signature': signature }) },
    })
  const receiver = buildReceiverUrl('', sign)
  t.equal((await post(receiver, '{}', null)).status, 404, 'before canaries are created')
  await insertProbe(api.db, 'us-east')
  await makeOperator(api.db)
  const wanted = { origin: api.origin, everySeconds: 1_800, forSeconds: 180, kinds: FAILURE_KINDS }
  await createCanaries(canaryTools(api.db, key), wanted, new Date())
  const secret = decryptSigningSecret((await findReceiverChannel(api.db))!, createSecretCipher(key))!
  const { monitorId } = await findCanary(api.db, 'us-east')
  const envelope = (id: string, about = monitorId) =>
    JSON.stringify({ delivery_id: id, data: { monitor: { id: about } } })
  const signed = (body: string) => post(receiver, body, signBody(Buffer.from(body), secret))
  const received = async () =>
    (await query<{ delivery_id: string }>(api.db, 'SELECT delivery_id FROM canary_alerts')).map(row => row.delivery_id)

  const body = envelope('whd_1')
  for (const signature of [null, '', signBody(Buffer.from(body), 'whsec_other'), signBody(Buffer.from('{}'), secret)]) {
    t.equal((await post(receiver, body, signature)).status, 401)
  }
  t.equal((await post('/canary/receive/other', body, signBody(Buffer.from(body), secret))).status, 404)
  t.same(await received(), [])
  t.equal((await signed(body)).status, 200)
  t.equal((await signed(body)).status, 200, 'a repetition is accepted and changes nothing')
  t.equal(
    (await signed(envelope('whd_2', '00000000-0000-0000-0000-000000000000'))).status,
    200,
    'a test of the channel',
  )
  t.equal((await signed(JSON.stringify({ delivery_id: 'whd_3', data: { incident: {} } }))).status, 200)
  t.same(await received(), ['whd_1'])
  t.equal((await signed(JSON.stringify({ pad: 'x'.repeat(70_000) }))).status, 413)
})
