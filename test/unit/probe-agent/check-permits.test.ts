import t from 'tap'
import { type CheckPermit, type CheckPermits, createCheckPermits } from '../../../probe-agent/schedule/check-permits.ts'

/** Fails the test where there is no place. */
function placeOf(places: CheckPermits, ...args: Parameters<CheckPermits['acquire']>): CheckPermit {
  const place = places.acquire(...args)
  if (typeof place === 'string') throw new Error(`no place: ${place}`)
  return place
}

t.test('The number of concurrent check starts is limited', async t => {
  const places = createCheckPermits(2)
  const first = placeOf(places, 0)
  placeOf(places, 0)
  t.equal(places.acquire(0), 'full')
  places.release(first)
  placeOf(places, 1)
  t.equal(places.countHeld(), 2)
})

t.test('Hanging checks free their permits after 2 s, up to ten times the limit', async t => {
  const places = createCheckPermits(2)
  let started = 0
  for (let nowMs = 0; nowMs < 60_000; nowMs += 100) while (places.acquire(nowMs) !== 'full') started++
  t.equal(started, 20)
  t.equal(places.countHeld(), 20)
})

t.test('A permit that is released late frees one waiting check only', async t => {
  const places = createCheckPermits(1)
  const waiting = placeOf(places, 0)
  const fresh = placeOf(places, 2000)
  places.release(waiting)
  t.equal(places.acquire(2001), 'full')
  places.release(fresh)
  t.ok(typeof places.acquire(2002) === 'object')
})

t.test('Tenants with hanging checks leave permits to others; a single tenant may use all', async t => {
  const rows: [tenants: number[], isShared: boolean, mostTogether: number][] = [
    [[1], false, 100],
    [[1], true, 80],
    [[1, 2], true, 90],
    [[1, 2, 3, 4], true, 97],
  ]
  for (const [tenants, isShared, mostTogether] of rows) {
    const places = createCheckPermits(10)
    const taken = new Map(tenants.map(tenant => [tenant, 0]))
    for (let nowMs = 0; nowMs < 300_000; nowMs += 100) {
      for (const tenant of tenants) {
        if (typeof places.acquire(nowMs, tenant, isShared) === 'object') taken.set(tenant, taken.get(tenant)! + 1)
      }
    }
    const counts = [...taken.values()]
    t.ok(places.countHeld() <= mostTogether, `${tenants.length} tenants with hanging checks have ${counts}`)
    t.ok(Math.max(...counts) - Math.min(...counts) <= 10, 'about as many each')
    if (isShared) t.equal(typeof places.acquire(300_000, 9, true), 'object', 'another tenant gets a place at once')
    else t.equal(places.countHeld(), 100)
  }
})
