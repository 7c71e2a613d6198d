import t, { type Test } from 'tap'
import { startApi } from '../support/api-server.ts'
import { type Answer, startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t, { ROLES: 'api,deliver' })

/** A project whose webhook uses the relay, and the log entry of a test that was sent there. */
async function startRelay(t: Test, answer: Answer) {
  const { key } = await api.tenant()
  const receiver = await startReceiver(t)
  receiver.always(answer)
  const config = { url: receiver.url, relay_source_id: 'src_1' }
  const created = await api.call('POST', '/alerts/channels', { key, body: { name: 'Hook', type: 'webhook', config } })
  const channelId: string = created.body.data.id
  const { id } = (await api.call('POST', `/alerts/channels/${channelId}/test`, { key })).body.data
  const entry = async () => (await api.call('GET', `/alerts/log/${id}`, { key })).body.data
  const reaches = (status: string) => waitFor(async () => (await entry()).status === status, { label: status })
  const circuits = async () => (await api.call('GET', '/alerts/relay', { key })).body
  const redrive = (body: object) => api.call('POST', '/alerts/relay/redrive', { key, body })
  return { key, receiver, channelId, id, entry, reaches, circuits, redrive, origin: new URL(receiver.url).origin }
}

t.test(
  'GET /alerts/relay 200 returns each destination with its circuit and the numbers of waiting and dead messages',
  async t => {
    const { circuits, origin, entry } = await startRelay(t, 503)
    await waitFor(async () => (await entry()).attempts.length > 0, { label: 'an attempt' })
    await api.db.raw(`UPDATE relay_messages SET next_attempt_at = now() + interval '1 hour'`)
    const { length } = (await entry()).attempts
    const { data, meta } = await circuits()
    t.match(meta, { page: 1, total: 1 })
    t.match(data, [
      { destination: origin, state: 'closed', consecutive_failures: length, opened_at: null, waiting: 1, dead: 0 },
    ])
    t.match(await entry(), { status: 'pending', attempts: [{ response_code: 503 }], attempts_left_out: 0 })

    const { id } = data[0]
    const open = 'UPDATE relay_destinations SET opened_at = now(), next_trial_at = now() + ?::interval WHERE id = ?'
    await api.db.raw(open, ['1 hour', id])
    t.match((await circuits()).data, [{ state: 'open', next_trial_at: /Z$/ }])
    await api.db.raw(open, ['-1 second', id])
    t.match((await circuits()).data, [{ state: 'half_open' }])
    const stranger = await api.tenant()
    t.same((await api.call('GET', '/alerts/relay', { key: stranger.key })).body.data, [], "another tenant's")
  },
)

t.test(
  'GET /alerts/log 200 lists dead deliveries with status=dead; POST /alerts/log/{id}/retry 200 sends one again',
  async t => {
    const { key, receiver, id, reaches, circuits } = await startRelay(t, 410)
    await reaches('dead')
    const dead = await api.call('GET', '/alerts/log?status=dead', { key })
    t.match(dead.body, { data: [{ id, status: 'dead', attempts: [{ response_code: 410 }] }], meta: { total: 1 } })
    t.match((await circuits()).data, [{ waiting: 0, dead: 1, state: 'closed' }])
    receiver.always(200)
    t.equal((await api.call('POST', `/alerts/log/${id}/retry`, { key })).status, 200)
    await reaches('delivered')
    t.equal(receiver.received[1]?.headers['x-service-delivery-retry'], 'true')
    t.equal(receiver.received[1]?.rawBody, receiver.received[0]?.rawBody)
    t.match((await circuits()).data, [{ waiting: 0, dead: 0 }])
  },
)

t.test(
  'POST /alerts/relay/redrive 200 sends the dead deliveries of one channel, or of all channels, again',
  async t => {
    const { receiver, channelId, reaches, redrive, key } = await startRelay(t, 410)
    await reaches('dead')
    t.match(await redrive({ channel_id: channelId }), { status: 200, body: { data: { redriven: 1 } } })
    await receiver.waitFor(2)
    await reaches('dead')
    receiver.always(200)
    t.match((await redrive({})).body, { data: { redriven: 1 } })
    await reaches('delivered')
    t.match((await redrive({})).body, { data: { redriven: 0 } })
    receiver.always('hang')
    const { id } = (await api.call('POST', `/alerts/channels/${channelId}/test`, { key })).body.data
    await receiver.waitFor(4)
    t.equal(
      (await api.call('POST', `/alerts/log/${id}/retry`, { key })).status,
      409,
      'a message in the relay is not sent again',
    )
    await receiver.close()
  },
)

t.test('POST /alerts/relay/redrive 400, 403, 404 and 409', async t => {
  const { channelId, redrive, key, reaches } = await startRelay(t, 410)
  await reaches('dead')
  t.equal((await redrive({ channel: channelId })).status, 400)
  t.equal((await redrive({ channel_id: 7 })).status, 400)
  for (const unknown of ['no-id', '01900000-0000-7000-8000-000000000000']) {
    t.match(await redrive({ channel_id: unknown }), { status: 404, body: { error: { code: 'not_found' } } })
  }
  const stranger = await startRelay(t, 200)
  t.equal((await redrive({ channel_id: stranger.channelId })).status, 404, "another tenant's channel")
  const reader = await api.createKey(await api.tenant(), 'read')
  t.equal((await api.call('POST', '/alerts/relay/redrive', { key: reader, body: {} })).status, 403)
  await api.db.raw('UPDATE alert_channels SET is_paused = true WHERE id = ?', [channelId])
  t.match(await redrive({ channel_id: channelId }), { status: 409, body: { error: { message: /paused/ } } })
  t.match(
    (await redrive({})).body,
    { data: { redriven: 0 } },
    'without a channel those of paused channels are left out',
  )
  t.equal((await api.call('GET', '/alerts/log?status=dead', { key })).body.meta.total, 1)
})
