import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { startApi } from '../support/api-server.ts'
import { readOperations, type Schema } from '../support/operations.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t, { ROLES: 'api,deliver' })

/** A channel with its own receiver, and the log entry of a test that was sent there and has ended. */
async function sendTest(t: Test, answer: Parameters<Awaited<ReturnType<typeof startReceiver>>['always']>[0] = 200) {
  const { key } = await api.tenant()
  const receiver = await startReceiver(t)
  receiver.always(answer)
  const config = { url: receiver.url, headers: { Authorization: 'Bearer of the receiver', 'X-Team': 'ops' } }
  const created = await api.call('POST', '/alerts/channels', { key, body: { name: 'Hook', type: 'webhook', config } })
  const { id: channelId, signing_secret: secret } = created.body.data
  const queued = await api.call('POST', `/alerts/channels/${channelId}/test`, { key })
  const { id } = queued.body.data
  const read = async () => (await api.call('GET', `/alerts/log/${id}`, { key })).body.data
  const ended = () => waitFor(async () => ((await read()).status === 'pending' ? null : await read()))
  return { key, receiver, channelId, secret, id, ended, entry: await ended() }
}

t.test('GET /alerts/log/{id} 200 returns the request with masked secrets, and each response', async t => {
  const { receiver, entry, id, channelId } = await sendTest(t, { status: 202, body: 'thank you' })
  const [received] = receiver.received
  t.match(entry, { id, delivery_id: id, channel_id: channelId, event: 'monitor.down', status: 'delivered' })
  t.same(entry.about, { type: 'test', id: null, name: 'Test of the channel Hook' })
  t.equal(entry.request_body, received?.rawBody)
  t.equal(entry.request_url, receiver.url)
  t.match(entry.request_headers, { 'X-Service-Delivery': id, 'x-team': 'ops', authorization: '********' })
  t.equal(received?.headers.authorization, 'Bearer of the receiver', 'the receiver got the real one')
  t.match(entry.attempts, [{ response_code: 202, error: null, response_snippet: 'thank you' }])
  t.ok(Number.isInteger(entry.attempts[0].duration_ms))
})

t.test('The id of an alert channel is alert_channel_id in the whole API, and channel_id is an alias', async t => {
  const { key, channelId, entry, id } = await sendTest(t)
  t.match(entry, { alert_channel_id: channelId, channel_id: channelId })
  const named = async (filter: string) => (await api.call('GET', `/alerts/log?${filter}`, { key })).body
  for (const name of ['alert_channel_id', 'channel_id']) {
    t.match((await named(`${name}=${channelId}`)).data, [{ id }])
    t.equal((await named(`${name}=${uuidv7()}`)).error.status, 404)
    const body = { [name]: channelId }
    t.match(await api.call('POST', '/alerts/relay/redrive', { key, body }), {
      status: 200,
      body: { data: { redriven: 0 } },
    })
  }
  t.match((await named(`alert_channel_id=${channelId}&channel_id=${channelId}`)).data, [{ id }])
  t.match((await named(`alert_channel_id=${channelId}&channel_id=${uuidv7()}`)).error, {
    status: 400,
    details: [{ path: 'channel_id', message: /older name of alert_channel_id.* send alert_channel_id only/ }],
  })

  const lonely: string[] = []
  const walk = (node: Schema, place: string) => {
    if (typeof node !== 'object' || node === null) return
    const names = Object.keys(node.properties ?? {})
    if (names.includes('channel_id') && !names.includes('alert_channel_id')) lonely.push(place)
    for (const [key, inner] of Object.entries(node)) walk(inner, `${place}.${key}`)
  }
  const { operations } = await readOperations(api)
  for (const { name, body, query, answers } of operations) {
    walk({ body, answers }, name)
    walk({ properties: Object.fromEntries(query.map(one => [one.name, one.schema])) }, `${name} query`)
  }
  t.same(lonely, [])
})

t.test('GET /alerts/log/{id} 200 returns 1 kB of a long response; redirects are not followed', async t => {
  const { entry, receiver } = await sendTest(t, {
    status: 301,
    headers: { location: '/elsewhere' },
    body: 'x'.repeat(50_000),
  })
  t.match(entry, { status: 'failed', attempts: [{ response_code: 301 }] })
  t.equal(entry.attempts.length, 1)
  t.equal(entry.attempts[0].response_snippet.length, 1024)
  t.same(
    receiver.received.map(({ path }) => path),
    ['/hook'],
  )
})

t.test('GET /alerts/log/{id} 200 masks credentials that a receiver repeats in its response', async t => {
  const echo = await sendTest(t, { status: 200, body: 'you are "Bearer of the receiver", are you?' })
  t.equal(echo.entry.attempts[0].response_snippet, 'you are "********", are you?')
  const cut = await sendTest(t, { status: 200, body: `${'x'.repeat(1_010)}Bearer of the receiver` })
  t.equal(cut.entry.attempts[0].response_snippet, `${'x'.repeat(1_010)}********`, 'the part before the limit too')
})

t.test('POST /alerts/log/{id}/retry 200 sends the stored body again with the same id and the retry header', async t => {
  const { key, receiver, id, ended, secret } = await sendTest(t, 410)
  receiver.always(200)
  const answer = await api.call('POST', `/alerts/log/${id}/retry`, { key })
  t.match(answer, { status: 200, body: { data: { id, status: 'pending' } } })
  const [first, again] = await receiver.waitFor(2)
  t.equal(again?.rawBody, first?.rawBody)
  t.match(again?.headers, { 'x-service-delivery': id, 'x-service-delivery-retry': 'true' })
  t.notOk(first?.headers['x-service-delivery-retry'])
  const signature = createHmac('sha256', secret).update(again!.rawBody).digest('hex')
  t.equal(again?.headers['x-service-signature'], `sha256=${signature}`)
  t.match(await ended(), { status: 'delivered', attempts: [{ response_code: 410 }, { response_code: 200 }] })
})

t.test('POST /alerts/log/{id}/retry 200 sends the same body, signed with the new secret after a rotation', async t => {
  const { key, receiver, id, channelId, secret } = await sendTest(t)
  const rotated = await api.call('POST', `/alerts/channels/${channelId}/rotate-secret`, { key })
  await api.call('POST', `/alerts/log/${id}/retry`, { key })
  const [first, again] = await receiver.waitFor(2)
  t.equal(again?.rawBody, first?.rawBody)
  const signedWith = (one: string) => `sha256=${createHmac('sha256', one).update(first!.rawBody).digest('hex')}`
  t.equal(first?.headers['x-service-signature'], signedWith(secret))
  t.equal(again?.headers['x-service-signature'], signedWith(rotated.body.data.signing_secret))
})

t.test('POST /alerts/log/{id}/retry 409 while the delivery is pending or its channel is paused', async t => {
  const { key, id, receiver, channelId } = await sendTest(t)
  receiver.always('hang')
  await api.call('POST', `/alerts/log/${id}/retry`, { key })
  const twice = await api.call('POST', `/alerts/log/${id}/retry`, { key })
  t.match(twice, { status: 409, body: { error: { code: 'conflict', message: /still pending/ } } })
  await receiver.waitFor(2)
  await receiver.close()
  await api.db.raw('UPDATE alert_channels SET is_paused = true WHERE id = ?', [channelId])
  await api.db.raw(`UPDATE deliveries SET status = 'failed' WHERE id = ?`, [id])
  const paused = await api.call('POST', `/alerts/log/${id}/retry`, { key })
  t.match(paused, { status: 409, body: { error: { code: 'conflict', message: /paused/ } } })
})
