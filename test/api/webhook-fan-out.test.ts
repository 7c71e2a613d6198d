import t from 'tap'
import { findReceiverHost } from '../../control-plane/alerting/channels/config/receiver-host.ts'
import { INITIAL_PACE, planPace } from '../../control-plane/alerting/deliveries/limits/pace.ts'
import { startApi } from '../support/api-server.ts'
import { createDeliveryQueue } from '../support/delivery-queue.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t)
const VICTIM = 'https://victim.example'
const add = (key: string, type: string, config: object) =>
  api.call('POST', '/alerts/channels', { key, body: { name: 'Hook', type, config } })

t.test('A project has at most 20 channels to one host, of all types, also after concurrent requests', async t => {
  const { key } = await api.tenant()
  const answers = await Promise.all(
    Array.from({ length: 26 }, (_, n) =>
      n % 2 === 0
        ? add(key, 'webhook', { url: `${VICTIM}:${8_000 + n}/${n}` })
        : add(key, 'chat_b', { webhook_url: `${VICTIM.toUpperCase()}./${n}` }),
    ),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, 20)
  const refused = answers.filter(({ status }) => status === 402)
  t.equal(refused.length, 6)
  t.match(refused[0]!.body.error, {
    code: 'tier_limit_reached',
    message: 'a project can have at most 20 channels to victim.example; this project has 20',
  })
  const other = await add(key, 'webhook', { url: 'https://other.example/' })
  const moved = await api.call('PUT', `/alerts/channels/${other.body.data.id}`, {
    key,
    body: { config: { url: `${VICTIM}/late` } },
  })
  t.equal(moved.status, 402)
  const mine = answers.find(({ status, body }) => status === 201 && body.data.type === 'webhook')!.body.data.id
  const within = await api.call('PUT', `/alerts/channels/${mine}`, {
    key,
    body: { config: { url: `${VICTIM}/new` } },
  })
  t.equal(within.status, 200, 'one that leads there already may change its path')
  const chats = await Promise.all(
    Array.from({ length: 25 }, (_, n) => add(key, 'chat_a', { webhook_url: `https://hooks.slack.com/services/${n}` })),
  )
  t.ok(
    chats.every(({ status }) => status === 201),
    'chats of one provider are many receivers',
  )
  const { limits } = (await api.call('GET', '/project', { key })).body.data
  t.equal(limits.channels_per_host, 20)
})

t.test('A channel that is moved to a host counts with one that is created at the same time', async t => {
  const narrow = await startApi(t, { CHANNELS_PER_HOST: '1' })
  const refusals = async () => {
    const { key } = await narrow.tenant()
    const send = (method: string, path: string, body: object) =>
      narrow.call(method, `/alerts/channels${path}`, { key, body })
    const hook = (url: string) => ({ name: 'Hook', type: 'webhook', config: { url } })
    const { id } = (await send('POST', '', hook('https://other.example/'))).body.data
    const both = [send('PUT', `/${id}`, { config: { url: VICTIM } }), send('POST', '', hook(VICTIM))]
    return (await Promise.all(both)).map(({ status }) => status === 402)
  }
  const refused = await Promise.all(Array.from({ length: 40 }, refusals))
  for (const both of refused) t.same(both.sort(), [false, true])
})

t.test('An import with too many channels to one host is refused as a whole', async t => {
  const { key } = await api.tenant()
  const alert_channels = Array.from({ length: 21 }, (_, n) => ({
    name: `Hook ${n}`,
    type: 'webhook',
    config: { url: `${VICTIM}/${n}` },
  }))
  const { status, body } = await api.call('POST', '/import', { key, body: { version: 1, alert_channels } })
  t.match(
    { status, body },
    { status: 402, body: { error: { code: 'tier_limit_reached', message: /victim\.example/ } } },
  )
  t.equal((await api.call('GET', '/alerts/channels', { key })).body.meta.total, 0)
})

t.test(
  'Ten requests of an event to a host are sent immediately, the others one a second, also from two processes',
  async t => {
    const delivering = await createDeliveryQueue(t)
    const receiver = await startReceiver(t)
    const channels: string[] = []
    for (let n = 0; n < 15; n++) channels.push(await delivering.channel(receiver.url))
    for (let n = 0; n < 2; n++) delivering.startWorker(t, { webhookBurst: 10 })
    await delivering.sendToAll(channels, 'incident:1')
    await receiver.waitFor(15)
    const entries = await waitFor(
      async () => {
        const statuses = await Promise.all(channels.map(id => delivering.statuses(id)))
        return statuses.every(({ delivered }) => delivered === 1) ? statuses : null
      },
      { label: 'all are delivered' },
    )
    t.equal(entries.length, 15)
    const { rows } = await delivering.db.raw<{ rows: { afterMs: number }[] }>(
      `SELECT 1000 * extract(epoch FROM CAST(attempts -> 0 ->> 'at' AS timestamptz) - created_at)::float8 AS "afterMs"
     FROM deliveries ORDER BY 1`,
    )
    // the eleventh is sent a second after the others at the earliest, and so on
    for (const [i, { afterMs }] of rows.slice(10).entries())
      t.ok(afterMs >= (i + 1) * 1_000 - 1, `${i + 11}: ${afterMs} ms`)
    const { rows: paces } = await delivering.db.raw<{ rows: object[] }>('SELECT has_left FROM event_paces')
    t.same(paces, [{ has_left: 15 }])
  },
)

t.test('An event with ten receivers, other hosts and other events are not delayed', async t => {
  const delivering = await createDeliveryQueue(t)
  const receiver = await startReceiver(t)
  const channels: string[] = []
  for (let n = 0; n < 10; n++) channels.push(await delivering.channel(receiver.url))
  delivering.startWorker(t, { webhookBurst: 10 })
  await delivering.sendToAll(channels, 'incident:1')
  await delivering.sendToAll(channels, 'incident:2')
  await receiver.waitFor(20)
  const { rows } = await delivering.db.raw<{ rows: object[] }>('SELECT FROM event_paces')
  t.equal(rows.length, 0)
})

t.test('Behind an external relay, requests wait for those to the same receiver only', async t => {
  const delivering = await createDeliveryQueue(t)
  const relay = await startReceiver(t)
  const channels: string[] = []
  for (let n = 0; n < 12; n++)
    channels.push(await delivering.channel(`https://host-${n}.example/`, { relay_source_id: `source-${n}` }))
  delivering.startWorker(t, { webhookBurst: 10, relayUrl: relay.url })
  await delivering.sendToAll(channels, 'incident:1')
  await relay.waitFor(12)
  const { rows } = await delivering.db.raw<{ rows: object[] }>('SELECT has_left FROM event_paces')
  t.same(
    rows,
    channels.map(() => ({ has_left: 1 })),
    'a pace for each receiver, of which none is used up',
  )
})

t.test('The pace of an event follows the table', async t => {
  const at = (ms: number) => new Date(1_000_000 + ms)
  const first = planPace(INITIAL_PACE, 13, 10, at(0))
  t.same(first.waits, [...Array.from({ length: 10 }, () => null), at(1_000), at(2_000), at(3_000)])
  t.same(first.pace, { hasLeft: 10, nextAt: at(1_000) })
  const late = planPace(first.pace, 3, 10, at(5_000))
  t.same(late.waits, [null, at(6_000), at(7_000)], 'late requests are not sent together')
  t.same(planPace(late.pace, 1, 10, at(5_500)).waits, [at(6_000)])
  t.same(planPace(late.pace, 2, 10, at(-9_000)).waits, [at(-8_000), at(-7_000)], 'the clock was set back')
  const rows: [string, string | null][] = [
    ['https://Victim.Example.:8443/a', 'victim.example'],
    ['https://hooks.slack.com/services/1', null],
    ['https://acme.webhook.office.com/x', null],
    ['https://notslack.com/', 'notslack.com'],
    ['mailto:a@example.com', null],
    ['chat:018f', null],
  ]
  for (const [address, host] of rows) t.equal(findReceiverHost(address), host, address)
})
