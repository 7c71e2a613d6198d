import t from 'tap'
import { rescheduleAfterClockStep } from '../../control-plane/alerting/deliveries/queue/clock-step-store.ts'
import { DELIVERY_TIMING } from '../../control-plane/alerting/deliveries/queue/lanes.ts'
import { createRescheduler } from '../../control-plane/alerting/deliveries/queue/reschedule-actions.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { setClockSource } from '../../control-plane/foundation/platform/time/clock.ts'
import { createLog } from '../../shared/process/log.ts'
import { createDeliveryQueue, send } from '../support/delivery-queue.ts'
import { keepOpen, openTransaction } from '../support/open-transaction.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const HOUR_MS = 3_600_000

const queue = await createDeliveryQueue(t)
let aheadMs = 0
// a process whose database has a clock that can be set
setClockSource({ nowMs: () => Date.now() + aheadMs })
t.teardown(() => setClockSource({ nowMs: () => null }))

t.test(
  'A retry that was planned while the clock was an hour ahead is sent when the clock is correct again',
  async t => {
    const receiver = await startReceiver(t)
    aheadMs = HOUR_MS
    const worker = queue.startWorker(t)
    receiver.answerWith(500)
    const channel = await queue.channel(receiver.url)
    const [id = ''] = await queue.sendAt(new Date(Date.now() + HOUR_MS), channel, 'monitor:a')
    await waitFor(async () => (await queue.entry(id)).attempts.length === 1, { label: 'the first attempt' })
    aheadMs = 0
    worker.wake()
    t.equal((await queue.ended(id)).status, 'delivered')
    t.equal(receiver.received.length, 2)
  },
)

t.test(
  'A delivery that was queued under a wrong clock, and never tried, is sent at the start of a process',
  async t => {
    const receiver = await startReceiver(t)
    const channel = await queue.channel(receiver.url)
    const [id = ''] = await queue.sendAt(new Date(Date.now() + HOUR_MS), channel, 'monitor:a')
    queue.startWorker(t)
    t.equal((await queue.ended(id)).status, 'delivered')
  },
)

t.test('An alert that began to be queued before the clock was set back, and was committed later, is sent', async t => {
  const receiver = await startReceiver(t)
  aheadMs = HOUR_MS
  const worker = queue.startWorker(t)
  const [slow, other] = [await queue.channel(receiver.url), await queue.channel(receiver.url)]
  await queue.db.transaction(async tx => {
    await keepOpen(tx)
    await send(tx, queue.tenant.projectId, [slow], ['monitor:a'], new Date(Date.now() + HOUR_MS))
    aheadMs = 0
    worker.wake()
    // the worker has noticed the clock when it has sent this
    const [id = ''] = await queue.send(other, 'monitor:b')
    await queue.ended(id)
  })
  await receiver.waitFor(2)
})

t.test('Deferred requests of an event are sent a second apart after the clock was set back', async t => {
  const receiver = await startReceiver(t)
  aheadMs = HOUR_MS
  const worker = queue.startWorker(t, { webhookBurst: 10 })
  const channels: string[] = []
  for (let n = 0; n < 12; n++) channels.push(await queue.channel(receiver.url))
  await queue.sendToAll(channels, 'monitor:a')
  await receiver.waitFor(10)
  aheadMs = 0
  worker.wake()
  await receiver.waitFor(12)
  t.equal(receiver.received.length, 12, 'each was sent once')
})

t.test('A delivery that waits for its retry under the correct clock keeps its time', async t => {
  const receiver = await startReceiver(t)
  receiver.always(500)
  const worker = queue.startWorker(t)
  const [id = ''] = await queue.send(await queue.channel(receiver.url), 'monitor:a')
  await waitFor(async () => (await queue.entry(id)).attempts.length === 2, { label: 'the second attempt' })
  aheadMs = -10_000
  worker.wake()
  await waitFor(async () => (await queue.entry(id)).attempts.length === 3, { label: 'the third attempt' })
  const gapMs = receiver.received[2]!.atMs - receiver.received[1]!.atMs
  t.ok(gapMs >= 5_000, `the third attempt came after ${gapMs} ms, not before its time`)
})

const dueInSeconds = async (channel: string) => {
  const sql = `SELECT CAST(extract(epoch FROM next_attempt_at - now()) AS float8) AS seconds FROM delivery_lanes WHERE channel_id = ?`
  return (await query<{ seconds: number }>(queue.db, sql, [channel]))[0]!.seconds
}
const setLane = (channel: string, owner: string | null) =>
  execute(
    queue.db,
    `UPDATE delivery_lanes SET lease_owner = ?, next_attempt_at = now() + interval '1 hour' WHERE channel_id = ?`,
    [owner, channel],
  )
const replan = () => queue.db.transaction(tx => rescheduleAfterClockStep(tx, new Date(), DELIVERY_TIMING.leaseMs))

t.test('A delivery behind one that ended under the wrong clock is due immediately', async t => {
  const channel = await queue.channel('http://127.0.0.1:9/')
  await queue.send(channel, 'monitor:a')
  await setLane(channel, null)
  t.equal(await replan(), 1)
  t.ok((await dueInSeconds(channel)) <= 0)
  t.equal(await replan(), 0)
})

t.test('A lane of a process that died under the wrong clock is free when its lease would have ended', async t => {
  const channel = await queue.channel('http://127.0.0.1:9/')
  await queue.send(channel, 'monitor:a')
  await setLane(channel, 'a process that died')
  t.equal(await replan(), 0)
  const seconds = await dueInSeconds(channel)
  t.ok(seconds > 0 && seconds <= 30, `${seconds} s`)
})

t.test('Waits are corrected at the start and after each set-back, and each second for a minute', async t => {
  const channel = await queue.channel('http://127.0.0.1:9/')
  await queue.send(channel, 'monitor:a')
  const clock = { ms: 0, isSetBack: true }
  const reschedule = createRescheduler(
    { db: queue.db, log: createLog('test', 'silent'), timing: DELIVERY_TIMING },
    { monotonicMs: () => clock.ms, hasBeenSetBack: () => clock.isSetBack },
  )
  const corrects = async (ms: number, isSetBack = false) => {
    await setLane(channel, null)
    Object.assign(clock, { ms, isSetBack })
    const againMs = await reschedule(new AbortController().signal)
    return { isCorrected: (await dueInSeconds(channel)) <= 0, againMs }
  }
  for (const startMs of [0, 100_000]) {
    t.same(await corrects(startMs, true), { isCorrected: true, againMs: 1_000 })
    t.same(await corrects(startMs + 999), { isCorrected: false, againMs: null }, 'too soon')
    t.same(await corrects(startMs + 1_000), { isCorrected: true, againMs: 1_000 })
    t.same(await corrects(startMs + 58_500), { isCorrected: true, againMs: 1_000 })
    t.same(await corrects(startMs + 59_500), { isCorrected: true, againMs: null }, 'the last one')
    t.same(await corrects(startMs + 61_000), { isCorrected: false, againMs: null }, 'the minute is over')
  }
})

t.test('A locked lane keeps neither other lanes from being corrected nor the worker from sending', async t => {
  const receiver = await startReceiver(t)
  const [locked, other] = [await queue.channel(receiver.url), await queue.channel(receiver.url)]
  const hour = new Date(Date.now() + HOUR_MS)
  const [waiting = ''] = await queue.sendAt(hour, locked, 'monitor:a')
  const [id = ''] = await queue.sendAt(hour, other, 'monitor:b')
  const holder = await openTransaction(queue.db)
  await query(holder, 'SELECT FROM delivery_lanes WHERE channel_id = ? FOR UPDATE', [locked])
  queue.startWorker(t)
  t.equal((await queue.ended(id)).status, 'delivered')
  t.equal((await queue.entry(waiting)).status, 'pending')
  await holder.commit()
  t.equal((await queue.ended(waiting)).status, 'delivered')
})
