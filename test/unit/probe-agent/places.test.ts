import t from 'tap'
import { createPlaces } from '../../../probe-agent/places.ts'

t.test('no more checks start at once than there are places', async t => {
  const places = createPlaces(2)
  const first = places.take(0)!
  t.ok(places.take(0))
  t.equal(places.take(0), null)
  places.giveBack(first)
  t.ok(places.take(1))
  t.equal(places.taken(), 2)
})

t.test('checks that hang in black holes give their places to others after 2 s, up to ten times as many', async t => {
  const places = createPlaces(2)
  let started = 0
  for (let nowMs = 0; nowMs < 60_000; nowMs += 100) while (places.take(nowMs)) started++
  t.equal(started, 20)
  t.equal(places.taken(), 20)
})

t.test('a place given back late frees one of those who wait, not one more', async t => {
  const places = createPlaces(1)
  const waiting = places.take(0)!
  const fresh = places.take(2000)!
  places.giveBack(waiting)
  t.equal(places.take(2001), null)
  places.giveBack(fresh)
  t.ok(places.take(2002))
})
