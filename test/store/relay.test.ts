import t, { type Test } from 'tap'
import { createDeliveryMetrics } from '../../control-plane/alerting/deliveries/metrics.ts'
import { replayDelivery } from '../../control-plane/alerting/deliveries/queue/enqueue-actions.ts'
import { DELIVERY_TIMING } from '../../control-plane/alerting/deliveries/queue/lanes.ts'
import { redrive } from '../../control-plane/alerting/deliveries/relay/redrive-actions.ts'
import { startRelayWorker } from '../../control-plane/alerting/deliveries/relay/worker.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createOwnFaultDetector } from '../../control-plane/foundation/platform/network/own-faults.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createConnections, createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDeliveryQueue } from '../support/delivery-queue.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const queue = await createDeliveryQueue(t)
const { db, tenant } = queue

type Message = { failures: number; waitMs: number }

/** The relay messages of a channel by due time, with the wait since the last attempt. */
const readMessages = (channelId: string) =>
  query<Message>(
    db,
    `SELECT m.failures, extract(epoch FROM m.next_attempt_at - d.updated_at) * 1000 AS "waitMs"
     FROM relay_messages m JOIN deliveries d ON d.id = m.delivery_id
     WHERE m.channel_id = ? AND m.lease_owner IS NULL ORDER BY m.next_attempt_at`,
    [channelId],
  )

async function startRelay(t: Test, answer: Parameters<Awaited<ReturnType<typeof startReceiver>>['always']>[0]) {
  const receiver = await startReceiver(t)
  receiver.always(answer)
  const worker = queue.startWorker(t)
  const channelId = await queue.channel(receiver.url, { relay_source_id: 'src_1' })
  const circuit = async () => {
    const origin = new URL(receiver.url).origin
    const sql = `SELECT id, consecutive_failures AS failures, opened_at AS "openedAt" FROM relay_destinations WHERE origin = ?`
    const [row] = await query<{ id: string; failures: number; openedAt: Date | null }>(db, sql, [origin])
    return row
  }
  /** moves the due times of the channel's waiting messages; a message with a lease is being sent */
  const makeDue = async () => {
    await execute(
      db,
      `UPDATE relay_destinations SET next_trial_at = now() - interval '1 second' WHERE opened_at IS NOT NULL`,
    )
    await execute(
      db,
      `UPDATE relay_messages SET next_attempt_at = now() - interval '1 second'
       WHERE channel_id = ? AND lease_owner IS NULL`,
      [channelId],
    )
    await execute(db, `SELECT pg_notify('relay', '')`)
  }
  /** the message after at least this number of failures; on a slow machine there may be more */
  const failed = (times: number) =>
    waitFor(async () => (await readMessages(channelId)).slice(0, 1).find(({ failures }) => failures >= times), {
      label: `${times} failures`,
    })
  return { receiver, worker, channelId, circuit, makeDue, failed }
}

t.test('A failing message is tried immediately and retried later, and delays no other message', async t => {
  const { receiver, channelId, failed, makeDue } = await startRelay(t, 200)
  let isTaken = false
  receiver.always(one => {
    const isFirst = one.headers['x-service-delivery'] === receiver.received[0]?.headers['x-service-delivery']
    return isFirst && !isTaken ? 503 : 200
  })
  const [first] = await queue.send(channelId, 'monitor:a')
  const message = await failed(1)
  const [second] = await queue.send(channelId, 'monitor:a')
  t.equal((await queue.ended(second!)).status, 'delivered', 'the order of the lane is given up')
  t.ok(message.waitMs > 6_000 && message.waitMs <= 10_000, `it waits ${message.waitMs} ms`)
  t.equal((await queue.entry(first!)).status, 'pending')
  isTaken = true
  await makeDue()
  const logged = await queue.ended(first!)
  t.equal(logged.status, 'delivered')
  const codes = logged.attempts.map(one => one.response_code)
  t.ok(codes.length > 1)
  t.same(
    codes,
    codes.map((_, i) => (i < codes.length - 1 ? 503 : 200)),
  )
  const mine = receiver.received.filter(one => one.headers['x-service-delivery'] === first)
  t.equal(mine.length, codes.length)
  t.equal(new Set(mine.map(({ rawBody }) => rawBody)).size, 1)
  t.same(await query(db, 'SELECT 1 FROM relay_messages WHERE channel_id = ?', [channelId]), [])
})

// takes about 20 s
t.test(
  'A retry of the relay that is more than 10 s away starts when it is due, without a query of the queue',
  async t => {
    const { receiver, worker, channelId, failed } = await startRelay(t, 503)
    const [id] = await queue.send(channelId, 'monitor:far')
    await failed(1)
    // from here on nothing queries the queue
    await worker.stop()
    const metrics = createMetrics()
    const relay = startRelayWorker(
      {
        db,
        secrets: createSecretCipher(queue.secretKey),
        egress: createEgress({ allow: ['127.0.0.0/8'] }),
        visitorEgress: createEgress({ allow: [] }),
        log: createLog('test', 'silent'),
        metrics,
        publicUrl: 'http://picket.test',
        mailer: null,
        relayUrl: null,
        connections: createConnections(1),
        timing: DELIVERY_TIMING,
        ownFaults: createOwnFaultDetector(),
        reportOwnFault: () => {},
      },
      createDeliveryMetrics(metrics),
    )
    t.teardown(() => relay.stop())
    await execute(
      db,
      `UPDATE relay_messages SET failures = 1, next_attempt_at = now() - interval '1 second' WHERE channel_id = ?`,
      [channelId],
    )
    relay.wake()
    const { waitMs } = await failed(2)
    t.ok(waitMs > 15_000 && waitMs <= 20_000, `it waits ${waitMs} ms`)
    receiver.always(200)
    t.equal((await queue.ended(id!)).status, 'delivered')
  },
)

t.test('A refusal is final, and a redriven message has another 24 hours', async t => {
  const { receiver, channelId, circuit } = await startRelay(t, 410)
  const ids = await queue.send(channelId, 'monitor:a', 'monitor:b', 'monitor:c')
  for (const id of ids) t.equal((await queue.ended(id)).status, 'dead')
  t.match(await circuit(), { failures: 0, openedAt: null }, 'a response closes the circuit')
  const [counted] = await query(db, 'SELECT consecutive_failures FROM alert_channels WHERE id = ?', [channelId])
  t.same(counted, { consecutive_failures: 3 }, 'a dead message is a failed delivery')

  receiver.always(200)
  await replayDelivery(db, tenant.projectId, ids[0]!, new Date())
  t.equal((await queue.ended(ids[0]!)).status, 'delivered')
  t.equal(await redrive(db, tenant.projectId, channelId, new Date()), 2)
  for (const id of ids.slice(1)) t.equal((await queue.ended(id)).status, 'delivered')
  const again = receiver.received.filter(one => one.headers['x-service-delivery-retry'] === 'true')
  t.same(new Set(again.map(one => one.headers['x-service-delivery'])), new Set(ids))
})

t.test(
  'After five failures in a row one trial is sent to a destination, and its success closes the circuit',
  async t => {
    const { receiver, channelId, circuit, makeDue } = await startRelay(t, 503)
    const ids = await queue.send(channelId, ...Array.from({ length: 30 }, (_, i) => `monitor:${i}`))
    await waitFor(async () => (await circuit())?.openedAt, { label: 'an open circuit' })
    await waitFor(async () => (await readMessages(channelId)).length === 30, { label: 'no request on its way' })
    const before = receiver.received.length
    t.ok(before >= 5 && before <= 24, `${before} requests came before it opened`)

    await makeDue()
    await receiver.waitFor(before + 1)
    await waitFor(async () => (await circuit())?.failures === before + 1, { label: 'the trial is written' })
    await execute(
      db,
      `UPDATE relay_messages SET next_attempt_at = now() - interval '1 second'
       WHERE channel_id = ? AND lease_owner IS NULL`,
      [channelId],
    )
    await execute(db, `SELECT pg_notify('relay', '')`)
    t.equal(receiver.received.length, before + 1, 'the trial failed, so nothing follows')

    receiver.always(200)
    await makeDue()
    for (const id of ids) t.equal((await queue.ended(id)).status, 'delivered')
    t.match(await circuit(), { failures: 0, openedAt: null })
    const sent = receiver.received.slice(before + 1).map(one => String(one.headers['x-service-delivery']))
    const twice = sent.filter((id, index) => sent.indexOf(id) !== index)
    t.same(await Promise.all(twice.map(queue.ended)), [], 'no message is sent twice')
    t.equal(receiver.received.length, before + 1 + 30)
  },
)

t.test('A message that was not delivered within 24 hours is dead, also behind an open circuit', async t => {
  const { channelId, failed, circuit, makeDue } = await startRelay(t, 'reset')
  const [tried] = await queue.send(channelId, 'monitor:a')
  await failed(1)
  // the wait after a second failure is at least 16 s
  await execute(db, `UPDATE relay_messages SET handed_over_at = now() - interval '23 hours 59 minutes 45 seconds'`)
  await makeDue()
  const dead = await queue.ended(tried!)
  t.equal(dead.status, 'dead', 'no attempt would come in time')
  t.ok(dead.attempts.length > 1)

  const [waiting] = await queue.send(channelId, 'monitor:b')
  await failed(1)
  const { id } = (await circuit())!
  await execute(
    db,
    `UPDATE relay_destinations SET opened_at = now(), next_trial_at = now() + interval '1 minute' WHERE id = ?`,
    [id],
  )
  await execute(db, `UPDATE relay_messages SET handed_over_at = now() - interval '24 hours'`)
  await execute(db, `SELECT pg_notify('relay', '')`)
  const logged = await queue.ended(waiting!)
  t.equal(logged.status, 'dead')
  t.match(logged.attempts.at(-1), { response_code: null, error: 'the relay gave up after 24 hours' })
})

t.test('Pausing a channel skips its messages in the relay', async t => {
  const { receiver, channelId, failed } = await startRelay(t, 400)
  receiver.always(one => {
    const isFirst = one.headers['x-service-delivery'] === receiver.received[0]?.headers['x-service-delivery']
    return isFirst ? 503 : 400
  })
  const [waiting] = await queue.send(channelId, 'monitor:waiting')
  await failed(1)
  const ids = await queue.send(channelId, ...Array.from({ length: 50 }, (_, i) => `monitor:${i}`))
  for (const id of ids) await queue.ended(id)
  t.match(await queue.entry(waiting!), { status: 'skipped' })
  const [channel] = await query(db, 'SELECT is_paused FROM alert_channels WHERE id = ?', [channelId])
  t.same(channel, { is_paused: true })
  await t.rejects(redrive(db, tenant.projectId, channelId, new Date()), /the channel is paused/)
  t.equal(await redrive(db, tenant.projectId, null, new Date()), 2, 'those of the other channels go')
})

t.test('The log keeps the first three and the last ten attempts, and the number of the others', async t => {
  const { receiver, channelId, failed, makeDue } = await startRelay(t, 503)
  const [id] = await queue.send(channelId, 'monitor:a')
  for (let times = 1; times <= 15; times++) {
    await failed(times)
    await makeDue()
  }
  // the next one is an hour away
  const { failures } = await failed(16)
  const { attempts, attemptsLeftOut } = await queue.entry(id!)
  t.equal(attempts.length, 13)
  t.equal(attemptsLeftOut, failures - 13)
  receiver.always(200)
  await makeDue()
  t.match(await queue.ended(id!), { status: 'delivered', attemptsLeftOut: failures - 12 })
})

t.test('An external relay gets the signed request unchanged, by the queue of every webhook', async t => {
  const [relay, receiver] = [await startReceiver(t), await startReceiver(t)]
  // a message of an earlier test may still be due for a retry
  const ownRequests = () => relay.received.filter(({ path }) => path === '/hook/src_42')
  relay.always(({ path }) => (path === '/hook/src_42' && ownRequests().length === 1 ? 500 : 200))
  queue.startWorker(t, { relayUrl: relay.url })
  const channelId = await queue.channel(receiver.url, { relay_source_id: 'src_42', headers: { 'X-Team': 'ops' } })
  const [id] = await queue.send(channelId, 'monitor:a')
  t.match(await queue.ended(id!), { status: 'delivered', requestUrl: `${relay.url}/src_42`, attempts: { length: 2 } })
  const [first, second] = ownRequests()
  t.match(first, { headers: { 'x-team': 'ops', 'x-service-delivery': id } })
  t.equal(second?.rawBody, first?.rawBody)
  t.same(receiver.received, [])
})

t.test('A message leaves the relay when its channel no longer uses it, and has all attempts of its lane', async t => {
  const { receiver, channelId, failed, makeDue } = await startRelay(t, 503)
  const [id] = await queue.send(channelId, 'monitor:a')
  for (const times of [1, 2]) {
    await failed(times)
    await makeDue()
  }
  const { failures } = await failed(3)
  const plain = await queue.channel(receiver.url)
  let attempts = 0
  receiver.always(() => (++attempts < 3 ? 503 : 200))
  await execute(db, 'UPDATE deliveries SET channel_id = :plain WHERE id = :id', { plain, id: id! })
  await execute(db, 'UPDATE relay_messages SET channel_id = :plain WHERE delivery_id = :id', { plain, id: id! })
  await execute(db, `UPDATE relay_messages SET next_attempt_at = now() - interval '1 second' WHERE channel_id = ?`, [
    plain,
  ])
  await makeDue()
  t.match(await queue.ended(id!), { status: 'delivered', attempts: { length: failures + 3 } })
  t.same(await query(db, 'SELECT 1 FROM delivery_lanes WHERE channel_id = ?', [plain]), [])
})
