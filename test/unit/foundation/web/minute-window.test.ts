import t from 'tap'
import { createMinuteWindow } from '../../../../control-plane/foundation/web/limits/minute-window.ts'

t.test('Counts belong to one minute of the clock, and the seconds until the next minute are rounded up', async t => {
  const window = createMinuteWindow()
  const counts = window.countsAt(60_000)
  counts.set('a', 3)
  t.equal(window.countsAt(119_999), counts)
  t.same([...window.countsAt(120_000)], [])
  t.same([...counts], [['a', 3]], 'a change of the previous minute can still be reverted without an effect on this one')
  t.same([60_000, 60_001, 119_001, 119_999].map(window.secondsLeft), [60, 60, 1, 1])
})
