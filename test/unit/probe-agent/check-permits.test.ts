import t from 'tap'
import { type CheckPermit, type CheckPermits, createCheckPermits } from '../../../probe-agent/schedule/check-permits.ts'

/** Acquires a permit; fails the test when it is refused. */
function acquirePermit(permits: CheckPermits, ...args: Parameters<CheckPermits['acquire']>): CheckPermit {
  const permit = permits.acquire(...args)
  if (typeof permit === 'string') throw new Error(`no permit: ${permit}`)
  return permit
}

t.test('The number of concurrent check starts is limited', async t => {
  const permits = createCheckPermits(2)
  const first = acquirePermit(permits, 0)
  acquirePermit(permits, 0)
  t.equal(permits.acquire(0), 'full')
  permits.release(first)
  acquirePermit(permits, 1)
  t.equal(permits.countHeld(), 2)
})

t.test('Hanging checks free their permits after 2 s, up to ten times the limit', async t => {
  const permits = createCheckPermits(2)
  let started = 0
  for (let nowMs = 0; nowMs < 60_000; nowMs += 100) while (permits.acquire(nowMs) !== 'full') started++
  t.equal(started, 20)
  t.equal(permits.countHeld(), 20)
})

t.test('A permit that is released late frees one waiting check only', async t => {
  const permits = createCheckPermits(1)
  const waiting = acquirePermit(permits, 0)
  const fresh = acquirePermit(permits, 2000)
  permits.release(waiting)
  t.equal(permits.acquire(2001), 'full')
  permits.release(fresh)
  t.ok(typeof permits.acquire(2002) === 'object')
})

t.test('Tenants with hanging checks leave permits to others; a single tenant may use all', async t => {
  const rows: [tenants: number[], isShared: boolean, maxTogether: number][] = [
    [[1], false, 100],
    [[1], true, 80],
    [[1, 2], true, 90],
    [[1, 2, 3, 4], true, 97],
  ]
  for (const [tenants, isShared, maxTogether] of rows) {
    const permits = createCheckPermits(10)
    const taken = new Map(tenants.map(tenant => [tenant, 0]))
    for (let nowMs = 0; nowMs < 300_000; nowMs += 100) {
      for (const tenant of tenants) {
        if (typeof permits.acquire(nowMs, tenant, isShared) === 'object') taken.set(tenant, taken.get(tenant)! + 1)
      }
    }
    const counts = [...taken.values()]
    t.ok(permits.countHeld() <= maxTogether, `${tenants.length} tenants with hanging checks have ${counts}`)
    t.ok(Math.max(...counts) - Math.min(...counts) <= 10, 'about as many each')
    if (isShared)
      t.equal(typeof permits.acquire(300_000, 9, true), 'object', 'another tenant gets a permit immediately')
    else t.equal(permits.countHeld(), 100)
  }
})
