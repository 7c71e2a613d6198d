import fc from 'fast-check'
import t from 'tap'
import { createDueQueue, type QueueItem } from '../../../probe-agent/schedule/queue/due-queue.ts'

type Item = QueueItem & { name: number }

const step = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'remove', 'take'),
  name: fc.nat(20),
  dueMs: fc.nat(1000),
})

t.test('The earliest item is always first, and no item is lost', async t => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), steps => {
      const queue = createDueQueue<Item>()
      const items = Array.from({ length: 21 }, (_, name): Item => ({ name, dueMs: 0, heapIndex: -1 }))
      const expected = new Map<number, number>()
      for (const { kind, name, dueMs } of steps) {
        if (kind === 'put') {
          queue.put(items[name]!, dueMs)
          expected.set(name, dueMs)
        } else {
          const item = kind === 'take' ? queue.earliest() : items[name]
          if (item) queue.remove(item)
          if (item) expected.delete(item.name)
        }
        const earliest = queue.earliest()
        if (earliest?.dueMs !== (expected.size > 0 ? Math.min(...expected.values()) : undefined)) return false
        if (queue.countDue(500) !== [...expected.values()].filter(due => due <= 500).length) return false
        if (items.some(item => item.heapIndex >= 0 !== expected.has(item.name))) return false
      }
      return true
    }),
  )
  t.pass('200 random runs')
})
