import t from 'tap'
import { createKeyedLimiter } from '../../../../control-plane/foundation/platform/concurrency/keyed-limiter.ts'

/** An item such as `a1 of x`: its key is `a`, its owner is `x`. */
const createLimiter = (limits: { maxWaitingPerKey?: number; maxPerOwner?: number } = {}) =>
  createKeyedLimiter<string>({
    getKey: item => item[0]!,
    getOwner: item => item.split(' of ')[1]!,
    maxConcurrentPerKey: 2,
    ...limits,
  })

const A = ['a1 of x', 'a2 of x', 'a3 of y', 'a4 of y', 'a5 of y'] as const

function enterAll(limiter: ReturnType<typeof createLimiter>, items: readonly string[]) {
  return items.map((item, index) => limiter.enter(item, index))
}

t.test('Two items of a key start, the others wait, and another key has two places of its own', async t => {
  const limiter = createLimiter()
  t.same(enterAll(limiter, A), ['now', 'now', 'wait', 'wait', 'wait'])
  t.same(enterAll(limiter, ['b1 of x', 'b2 of x', 'b3 of x']), ['now', 'now', 'wait'])
  t.equal(limiter.waiting(), 4)
  t.same(Object.fromEntries(limiter.countByOwner()), { x: 5, y: 3 })
})

t.test('After a quick end the item of the same key that has waited longest is next', async t => {
  const limiter = createLimiter()
  enterAll(limiter, [...A, 'b1 of x'])
  t.same(limiter.leave('b1 of x', true), { next: [], back: [] })
  t.same(limiter.leave('a2 of x', true), { next: ['a3 of y'], back: [] })
  t.same(limiter.leave('a1 of x', true), { next: ['a4 of y'], back: [] })
  t.equal(limiter.enter('a6 of x', 9), 'wait', 'the places are taken again')
  t.equal(limiter.waiting(), 2)
  t.same(Object.fromEntries(limiter.countByOwner()), { x: 1, y: 3 })
})

t.test('After another end everything that waits for the key is given back, and the rest goes on', async t => {
  const limiter = createLimiter()
  enterAll(limiter, [...A, 'b1 of x', 'b2 of x', 'b3 of x'])
  t.same(limiter.leave('a1 of x', false), { next: [], back: ['a3 of y', 'a4 of y', 'a5 of y'] })
  t.equal(limiter.waiting(), 1, 'of the other key')
  t.same(Object.fromEntries(limiter.countByOwner()), { x: 4 })
  t.equal(limiter.enter('a3 of y', 9), 'now', 'the place of the item that ended is free')
})

t.test(
  'A key with a full queue and an owner with too many items refuse more, and other keys and owners do not',
  async t => {
    const limiter = createLimiter({ maxWaitingPerKey: 1, maxPerOwner: 4 })
    t.same(enterAll(limiter, ['a1 of x', 'a2 of x', 'a3 of x', 'a4 of x']), ['now', 'now', 'wait', 'full'])
    t.same(enterAll(limiter, ['b1 of x', 'b2 of x', 'b2 of y']), ['now', 'full', 'now'])
    t.same(Object.fromEntries(limiter.countByOwner()), { x: 4, y: 1 }, 'what was refused is not counted')
    limiter.leave('b1 of x', true)
    t.equal(limiter.enter('b3 of x', 9), 'now')
  },
)

t.test('Items that have waited since before a time are removed, and what runs is not', async t => {
  const limiter = createLimiter()
  enterAll(limiter, A)
  t.same(limiter.removeWaiting(3), ['a3 of y'])
  t.same(limiter.removeWaiting(Number.POSITIVE_INFINITY), ['a4 of y', 'a5 of y'])
  t.equal(limiter.waiting(), 0)
  t.same(Object.fromEntries(limiter.countByOwner()), { x: 2 })
  t.same(limiter.leave('a1 of x', true), { next: [], back: [] })
  t.same(limiter.leave('a2 of x', true), { next: [], back: [] })
  t.equal(limiter.countByOwner().size, 0)
})
