import t from 'tap'
import { replayDelivery } from '../../control-plane/alerting/deliveries/queue/enqueue-actions.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDeliveryQueue } from '../support/delivery-queue.ts'
import { PATIENT_DELIVERY } from '../support/delivery-worker.ts'
import { startReceiver } from '../support/receiver.ts'
import { insertTenant } from '../support/tenant.ts'

const queue = await createDeliveryQueue(t)
const { db, tenant } = queue

t.test('A queued delivery arrives signed, and the log has the request and the response', async t => {
  const receiver = await startReceiver(t)
  queue.startWorker(t)
  const [id] = await queue.send(await queue.channel(receiver.url, { headers: { 'X-Api-Key': 'hush' } }), 'monitor:a')
  const [got] = await receiver.waitFor(1)
  t.equal(got?.headers['x-service-delivery'], id)
  t.equal(got?.json.delivery_id, id)
  t.equal(got?.headers['x-api-key'], 'hush')
  const logged = await queue.ended(id!)
  t.equal(logged.status, 'delivered')
  t.equal(logged.attempts.length, 1)
  t.equal(logged.attempts[0]?.response_code, 200)
  t.equal(logged.requestBody?.toString(), got?.rawBody)
  t.equal(logged.requestHeaders?.['x-api-key'], '********', 'a secret header is masked in the log')
})

t.test('A receiver that returns 500 twice gets the same id and body after 1 s and 5 s', async t => {
  const receiver = await startReceiver(t)
  queue.startWorker(t)
  receiver.answerWith(500, 'reset', 200)
  const [id] = await queue.send(await queue.channel(receiver.url), 'monitor:a')
  const [first, second, third] = await receiver.waitFor(3)
  t.equal((await queue.ended(id!)).status, 'delivered')
  t.same([second?.rawBody, third?.rawBody], [first?.rawBody, first?.rawBody])
  t.same([second?.headers['x-service-delivery'], third?.headers['x-service-delivery']], [id, id])
  // the latest times are tested in test/unit/alerting/deliveries/retry-policy.test.ts
  const gaps = [second!.atMs - first!.atMs, third!.atMs - second!.atMs]
  t.ok(gaps[0]! >= 1_000, `attempt 2 came after ${gaps[0]} ms`)
  t.ok(gaps[1]! >= 5_000, `attempt 3 came after ${gaps[1]} ms`)
})

t.test('A permanent failure ends a delivery without a retry and does not stop the next one of its lane', async t => {
  const receiver = await startReceiver(t)
  queue.startWorker(t)
  receiver.answerWith(410)
  const ids = await queue.send(await queue.channel(receiver.url), 'monitor:a', 'monitor:a')
  t.equal((await queue.ended(ids[0]!)).status, 'failed')
  t.equal((await queue.ended(ids[1]!)).status, 'delivered')
  t.equal(receiver.received.length, 2)
})

t.test('Deliveries about one subject keep their order, also while the first is retried', async t => {
  const receiver = await startReceiver(t)
  queue.startWorker(t)
  receiver.answerWith(503)
  const ids = await queue.send(await queue.channel(receiver.url), 'monitor:a', 'monitor:a', 'monitor:a')
  const got = await receiver.waitFor(4)
  t.same(
    got.map(one => one.json.delivery_id),
    [ids[0], ids[0], ids[1], ids[2]],
  )
})

t.test(
  'A channel sends at most 8 requests at the same time, and a receiver that hangs delays no other channel',
  async t => {
    const hanging = await startReceiver(t)
    const healthy = await startReceiver(t)
    hanging.always('hang')
    // no attempt ends, so no other one follows it
    queue.startWorker(t, { timing: PATIENT_DELIVERY })
    t.teardown(hanging.close)
    const slow = await queue.channel(hanging.url)
    const quick = await queue.channel(healthy.url)
    for (let i = 0; i < 100; i++) await queue.send(slow, `monitor:${i}`)
    await hanging.waitFor(8)
    await queue.send(quick, 'monitor:a')
    await healthy.waitFor(1)
    t.equal(hanging.received.length, 8, 'the healthy channel does not wait for the other one')
    await hanging.close()
    await execute(db, 'DELETE FROM alert_channels WHERE id = ?', [slow])
  },
)

t.test(
  '50 failed deliveries in a row pause a channel; the others are skipped and can be replayed after the resume',
  async t => {
    const receiver = await startReceiver(t)
    receiver.always(400)
    const channelId = await queue.channel(receiver.url)
    const [waiting] = await queue.send(channelId, 'monitor:waiting')
    for (const table of ['deliveries', 'delivery_lanes']) {
      const sql = `UPDATE ${table} SET next_attempt_at = now() + interval '1 hour' WHERE subject = 'monitor:waiting'`
      await execute(db, sql)
    }
    const ids = await queue.send(channelId, ...Array(60).fill('monitor:a'))
    queue.startWorker(t)
    const last = await queue.ended(ids.at(-1)!)
    t.equal(last.status, 'skipped')
    t.equal((await queue.entry(waiting!)).status, 'skipped', 'also a delivery that waits for its retry')
    const columns = 'is_paused, paused_at, paused_reason, consecutive_failures'
    const [channel] = await query(db, `SELECT ${columns} FROM alert_channels WHERE id = ?`, [channelId])
    t.match(channel, {
      is_paused: true,
      paused_at: Date,
      consecutive_failures: 50,
      paused_reason: /50 deliveries in a row failed/,
    })
    t.equal(receiver.received.length, 50)

    await t.rejects(replayDelivery(db, tenant.projectId, last.id, new Date()), /the channel is paused/)
    const [whilePaused] = await queue.send(channelId, 'monitor:b')
    t.equal((await queue.entry(whilePaused!)).status, 'skipped')

    receiver.always(200)
    await execute(db, 'UPDATE alert_channels SET is_paused = false, consecutive_failures = 0 WHERE id = ?', [channelId])
    await replayDelivery(db, tenant.projectId, last.id, new Date())
    t.equal((await queue.ended(last.id)).status, 'delivered')
  },
)

t.test('A delivery that a machine with a clock three seconds ahead has queued is sent without delay', async t => {
  const receiver = await startReceiver(t)
  const channelId = await queue.channel(receiver.url)
  const [id] = await queue.sendAt(new Date(Date.now() + 3_000), channelId, 'monitor:a')
  const sql = 'SELECT next_attempt_at <= clock_timestamp() AS "isDue" FROM delivery_lanes WHERE channel_id = ?'
  t.same(await query(db, sql, [channelId]), [{ isDue: true }])
  queue.startWorker(t)
  const [got] = await receiver.waitFor(1)
  t.equal(got?.json.delivery_id, id)
})

t.test('A replay sends the stored body again with the retry header', async t => {
  const receiver = await startReceiver(t)
  queue.startWorker(t)
  const [id] = await queue.send(await queue.channel(receiver.url), 'monitor:a')
  await queue.ended(id!)
  await replayDelivery(db, tenant.projectId, id!, new Date())
  const [first, second] = await receiver.waitFor(2)
  t.equal(second?.rawBody, first?.rawBody)
  t.equal(second?.headers['x-service-signature'], first?.headers['x-service-signature'])
  t.equal(second?.headers['x-service-delivery-retry'], 'true')
  t.equal(first?.headers['x-service-delivery-retry'], undefined)
  t.equal((await queue.ended(id!)).attempts.length, 2)
  const stranger = await insertTenant(db)
  await t.rejects(replayDelivery(db, stranger.projectId, id!, new Date()), /not found/, "another tenant's entry")
})

t.test('Two workers share the queue and send nothing twice', async t => {
  const receiver = await startReceiver(t)
  const channels = await Promise.all(Array.from({ length: 6 }, () => queue.channel(receiver.url)))
  queue.startWorker(t)
  queue.startWorker(t)
  const ids: string[] = []
  for (let i = 0; i < 120; i++) ids.push(...(await queue.send(channels[i % 6]!, `monitor:${i % 30}`)))
  await Promise.all(ids.map(id => queue.ended(id)))
  t.equal(receiver.received.length, 120)
  t.equal(new Set(receiver.received.map(one => one.json.delivery_id)).size, 120)
  const lanes = await query(db, 'SELECT 1 FROM delivery_lanes WHERE channel_id = ANY (?)', [channels])
  t.equal(lanes.length, 0, 'no lane is left behind')
})

t.test('The time until a first attempt leaves out intended waits and replays, and no other delay', async t => {
  const hourAgo = new Date(Date.now() - 3_600_000)
  const postponed = (assignments: string) => async (id: string) => {
    await execute(
      db,
      `UPDATE deliveries SET next_attempt_at = now() - interval '1 second', ${assignments} WHERE id = ?`,
      [id],
    )
    const lane = 'SELECT channel_id, subject FROM deliveries WHERE id = ?'
    await execute(db, `UPDATE delivery_lanes SET next_attempt_at = now() WHERE (channel_id, subject) IN (${lane})`, [
      id,
    ])
  }
  const cases: [what: string, isLate: boolean | null, change: (id: string) => Promise<unknown>][] = [
    ['nothing delayed it on purpose', true, async () => {}],
    ['it waited for its turn among the requests of its event', false, postponed('is_crowd = true')],
    ['no process could decrypt its channel', true, postponed('is_crowd = false')],
    [
      'an earlier delivery of its lane has just ended',
      false,
      () => execute(db, 'UPDATE delivery_lanes SET next_attempt_at = now()'),
    ],
    [
      'the process that claimed it has died',
      true,
      () => execute(db, 'UPDATE delivery_lanes SET next_attempt_at = now(), lease_owner = gen_random_uuid()'),
    ],
    [
      'it is a replay of a delivery that was skipped',
      null,
      id => execute(db, 'UPDATE deliveries SET is_replay = true WHERE id = ?', [id]),
    ],
  ]
  for (const [what, isLate, change] of cases) {
    const receiver = await startReceiver(t)
    const [id] = await queue.sendAt(hourAgo, await queue.channel(receiver.url), 'monitor:a')
    await change(id!)
    const metrics = createMetrics()
    const worker = queue.startWorker(t, { metrics })
    await queue.ended(id!)
    await worker.stop()
    const { text } = await metrics.render()
    const read = (suffix: string) =>
      Number(new RegExp(`^picket_delivery_first_attempt_seconds_${suffix} ([\\d.]+)`, 'm').exec(text)?.[1])
    t.equal(read('count'), isLate === null ? 0 : 1, what)
    if (isLate !== null) t.equal(read('sum') >= 3_600, isLate, what)
  }
})
