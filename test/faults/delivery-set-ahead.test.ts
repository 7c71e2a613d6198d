import t from 'tap'
import { createTakeoverGuard } from '../../control-plane/alerting/deliveries/queue/takeover.ts'
import { setClockSource } from '../../control-plane/foundation/platform/time/clock.ts'
import { createDeliveryQueue } from '../support/delivery-queue.ts'
import { PATIENT_DELIVERY } from '../support/delivery-worker.ts'
import { startReceiver } from '../support/receiver.ts'

const queue = await createDeliveryQueue(t)
let aheadMs = 0
// a process whose database has a clock that can be set
setClockSource({ nowMs: () => Date.now() + aheadMs })
t.teardown(() => setClockSource({ nowMs: () => null }))

const WAYS: [way: string, config: object][] = [
  ['directly', {}],
  ['through the relay', { relay_source_id: 'src_1' }],
]
for (const [way, config] of WAYS) {
  t.test(`A message that is being sent ${way} while the clock is set ahead is not sent again`, async t => {
    aheadMs = 0
    const worker = queue.startWorker(t, { timing: PATIENT_DELIVERY })
    const [slow, receiver] = [await startReceiver(t), await startReceiver(t)]
    slow.always('hang')
    await queue.send(await queue.channel(slow.url, config), 'monitor:a')
    await slow.waitFor(1)
    aheadMs = 2 * PATIENT_DELIVERY.leaseMs
    worker.wake()
    const channel = await queue.channel(receiver.url, config)
    // the worker has claimed under the new time when it has sent these
    for (const subject of ['monitor:b', 'monitor:c']) {
      const [id = ''] = await queue.sendAt(new Date(Date.now() + aheadMs), channel, subject)
      t.equal((await queue.ended(id)).status, 'delivered')
    }
    t.equal(slow.received.length, 1)
    await slow.close()
  })
}

t.test(
  'Leases that have ended are taken over, except for the length of a lease after the clock was set ahead',
  async t => {
    const clock = { ms: 0, isAhead: false }
    const mayTakeOver = createTakeoverGuard(30_000, { isSetAhead: () => clock.isAhead, monotonicMs: () => clock.ms })
    const at = (ms: number, isAhead = false) => {
      Object.assign(clock, { ms, isAhead })
      return mayTakeOver()
    }
    t.ok(at(0))
    t.notOk(at(1_000, true))
    t.notOk(at(30_999))
    t.ok(at(31_000))
    t.notOk(at(40_000, true), 'a second step')
    t.ok(at(70_000))
  },
)
