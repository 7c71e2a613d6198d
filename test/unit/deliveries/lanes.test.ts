import t from 'tap'
import { PROCESS_CONCURRENCY, placesFor } from '../../../control-plane/deliveries/lanes.ts'

t.test('one project takes half of the places, the next one half of the rest, and there is always one left', async t => {
  t.equal(placesFor(0, 0), 1_024)
  t.equal(placesFor(1_000, 1_000), 24)
  t.equal(placesFor(1_024, 1_024), 0)
  t.equal(placesFor(0, 1_024), 512)
  let all = 0
  for (let project = 0; project < 11; project++) all += placesFor(0, all)
  t.equal(all, PROCESS_CONCURRENCY - 1)
  t.equal(placesFor(0, all), 1)
})

t.test('a project that holds more than its share takes no more until others are done', async t => {
  t.equal(placesFor(1_024, 2_000), 0)
})
