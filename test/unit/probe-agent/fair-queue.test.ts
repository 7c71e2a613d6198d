import fc from 'fast-check'
import t from 'tap'
import { createFairQueue, type TenantQueueItem } from '../../../probe-agent/schedule/queue/fair-queue.ts'

type Item = TenantQueueItem & { name: number }

const step = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'remove', 'take', 'hold', 'release'),
  name: fc.nat(20),
  dueMs: fc.nat(1000),
})

t.test('The earliest item of all tenants that are not held back is first, and no item is lost', async t => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), steps => {
      const queue = createFairQueue<Item>()
      const items = Array.from({ length: 21 }, (_, name): Item => ({ name, tenant: name % 4, dueMs: 0, heapIndex: -1 }))
      const expected = new Map<number, number>()
      const held = new Set<number>()
      for (const { kind, name, dueMs } of steps) {
        if (kind === 'hold') {
          queue.holdBack(name % 4)
          held.add(name % 4)
        } else if (kind === 'release') {
          queue.release()
          held.clear()
        } else if (kind === 'put') {
          queue.put(items[name]!, dueMs)
          expected.set(name, dueMs)
        } else {
          const item = kind === 'take' ? queue.earliest() : items[name]
          if (item) queue.remove(item)
          if (item) expected.delete(item.name)
        }
        const free = [...expected].filter(([one]) => !held.has(one % 4)).map(([, due]) => due)
        if (queue.earliest()?.dueMs !== (free.length > 0 ? Math.min(...free) : undefined)) return false
        if (queue.countDue(500) !== [...expected.values()].filter(due => due <= 500).length) return false
        if (items.some(item => item.heapIndex >= 0 !== expected.has(item.name))) return false
      }
      return true
    }),
  )
  t.pass('200 random runs')
})

t.test('Tenants are counted while they have monitors', async t => {
  const queue = createFairQueue<Item>()
  const item: Item = { name: 1, tenant: 7, dueMs: 0, heapIndex: -1 }
  queue.join(7)
  queue.join(7)
  queue.join(8)
  queue.put(item, 5)
  queue.remove(item)
  t.equal(queue.tenants(), 2)
  queue.leave(7)
  t.equal(queue.tenants(), 2)
  queue.leave(7)
  t.equal(queue.tenants(), 1)
})
