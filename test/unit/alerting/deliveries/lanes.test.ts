import t from 'tap'
import { computeFreeSlots, MAX_PROCESS_CONCURRENCY } from '../../../../control-plane/alerting/deliveries/queue/lanes.ts'

t.test('One project gets half of the places, the next one half of the rest, and one place is always free', async t => {
  t.equal(computeFreeSlots(0, 0), 1_024)
  t.equal(computeFreeSlots(1_000, 1_000), 24)
  t.equal(computeFreeSlots(1_024, 1_024), 0)
  t.equal(computeFreeSlots(0, 1_024), 512)
  let all = 0
  for (let project = 0; project < 11; project++) all += computeFreeSlots(0, all)
  t.equal(all, MAX_PROCESS_CONCURRENCY - 1)
  t.equal(computeFreeSlots(0, all), 1)
})

t.test('A project that holds more than its share gets no more until some deliveries end', async t => {
  t.equal(computeFreeSlots(1_024, 2_000), 0)
})
