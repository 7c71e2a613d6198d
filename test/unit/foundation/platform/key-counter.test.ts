import t from 'tap'
import { createKeyCounter } from '../../../../control-plane/foundation/platform/concurrency/key-counter.ts'

t.test('Each key has its own count, and a key without anything is not stored', async t => {
  const counter = createKeyCounter()
  counter.add('a', 1)
  counter.add('a', 1)
  counter.add('b', 1)
  t.same([counter.get('a'), counter.get('b'), counter.get('c')], [2, 1, 0])
  counter.add('a', -1)
  counter.add('b', -1)
  t.same([...counter.counts], [['a', 1]])
})
