import t from 'tap'
import { createPlaces, type Place, type Places } from '../../../probe-agent/places.ts'

/** Fails the test where there is no place. */
function placeOf(places: Places, ...args: Parameters<Places['take']>): Place {
  const place = places.take(...args)
  if (typeof place === 'string') throw new Error(`no place: ${place}`)
  return place
}

t.test('no more checks start at once than there are places', async t => {
  const places = createPlaces(2)
  const first = placeOf(places, 0)
  placeOf(places, 0)
  t.equal(places.take(0), 'full')
  places.giveBack(first)
  placeOf(places, 1)
  t.equal(places.taken(), 2)
})

t.test('checks that hang in black holes give their places to others after 2 s, up to ten times as many', async t => {
  const places = createPlaces(2)
  let started = 0
  for (let nowMs = 0; nowMs < 60_000; nowMs += 100) while (places.take(nowMs) !== 'full') started++
  t.equal(started, 20)
  t.equal(places.taken(), 20)
})

t.test('a place given back late frees one of those who wait, not one more', async t => {
  const places = createPlaces(1)
  const waiting = placeOf(places, 0)
  const fresh = placeOf(places, 2000)
  places.giveBack(waiting)
  t.equal(places.take(2001), 'full')
  places.giveBack(fresh)
  t.ok(typeof places.take(2002) === 'object')
})

t.test('tenants whose checks hang leave places to the others; a tenant alone on a probe may take all', async t => {
  const rows: [tenants: number[], isShared: boolean, mostTogether: number][] = [
    [[1], false, 100],
    [[1], true, 80],
    [[1, 2], true, 90],
    [[1, 2, 3, 4], true, 97],
  ]
  for (const [tenants, isShared, mostTogether] of rows) {
    const places = createPlaces(10)
    const taken = new Map(tenants.map(tenant => [tenant, 0]))
    for (let nowMs = 0; nowMs < 300_000; nowMs += 100) {
      for (const tenant of tenants) {
        if (typeof places.take(nowMs, tenant, isShared) === 'object') taken.set(tenant, taken.get(tenant)! + 1)
      }
    }
    const counts = [...taken.values()]
    t.ok(places.taken() <= mostTogether, `${tenants.length} tenants with hanging checks have ${counts}`)
    t.ok(Math.max(...counts) - Math.min(...counts) <= 10, 'about as many each')
    if (isShared) t.equal(typeof places.take(300_000, 9, true), 'object', 'another tenant gets a place at once')
    else t.equal(places.taken(), 100)
  }
})
