import t from 'tap'
import { followClock } from '../../control-plane/platform/clock.ts'
import { createDelivering } from '../support/delivering.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const HOUR_MS = 3_600_000

const queue = await createDelivering(t)
let aheadMs = 0
// what a process does whose database has a clock that can be set
followClock({ nowMs: () => Date.now() + aheadMs })
t.teardown(() => followClock({ nowMs: () => null }))

t.test('a retry that was planned while the clock was an hour ahead is made when the clock is right again', async t => {
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
})

t.test('a delivery that was queued under a wrong clock, and never tried, leaves at the start of a process', async t => {
  const receiver = await startReceiver(t)
  const channel = await queue.channel(receiver.url)
  const [id = ''] = await queue.sendAt(new Date(Date.now() + HOUR_MS), channel, 'monitor:a')
  queue.startWorker(t)
  t.equal((await queue.ended(id)).status, 'delivered')
})

t.test('what waits for its retry under the right clock goes on waiting', async t => {
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
