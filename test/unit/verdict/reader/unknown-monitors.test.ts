import t from 'tap'
import {
  createUnknownMonitors,
  mayLookUp,
  recordUnknownMonitor,
} from '../../../../control-plane/verdict/reader/counting/unknown-monitors.ts'

t.test('An unknown id is looked up once a minute', async t => {
  const strangers = createUnknownMonitors(0)
  t.ok(mayLookUp(strangers, 'a', 0))
  recordUnknownMonitor(strangers, 'a', 0)
  t.notOk(mayLookUp(strangers, 'a', 59_999))
  t.ok(mayLookUp(strangers, 'a', 60_000))
})

t.test('Many unknown ids are looked up at a limited rate, and few are remembered', async t => {
  const strangers = createUnknownMonitors(0)
  const asked = (from: number, nowMs: number) => {
    let count = 0
    for (let i = 0; i < 5_000; i++) {
      const id = `${from + i}`
      if (!mayLookUp(strangers, id, nowMs)) continue
      recordUnknownMonitor(strangers, id, nowMs)
      count++
    }
    return count
  }
  t.equal(asked(0, 0), 1_000)
  t.equal(asked(10_000, 1_000), 100)
  t.equal(asked(20_000, 100_000), 1_000, 'no more at once after a long rest')
  t.equal(asked(30_000, 200_000), 1_000)
  t.equal(strangers.until.size, 2_000)
})
