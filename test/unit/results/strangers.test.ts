import t from 'tap'
import { mayAskFor, newStrangers, noteStranger } from '../../../control-plane/results/strangers.ts'

t.test('An unknown id is asked for once a minute', async t => {
  const strangers = newStrangers(0)
  t.ok(mayAskFor(strangers, 'a', 0))
  noteStranger(strangers, 'a', 0)
  t.notOk(mayAskFor(strangers, 'a', 59_999))
  t.ok(mayAskFor(strangers, 'a', 60_000))
})

t.test('Many unknown ids are asked for at a limited rate, and few are kept', async t => {
  const strangers = newStrangers(0)
  const asked = (from: number, nowMs: number) => {
    let count = 0
    for (let i = 0; i < 5_000; i++) {
      const id = `${from + i}`
      if (!mayAskFor(strangers, id, nowMs)) continue
      noteStranger(strangers, id, nowMs)
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
