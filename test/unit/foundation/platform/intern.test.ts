import t from 'tap'
import { createInterner } from '../../../../control-plane/foundation/platform/cache/intern.ts'

t.test('Equal keys return the same object, until the cache is full', async t => {
  let made = 0
  const one = createInterner<{ number: number }>(2)
  const ask = (key: string) => one(key, () => ({ number: ++made }))
  const first = ask('a')
  t.equal(ask('a'), first)
  t.not(ask('b'), first)
  t.equal(made, 2)
  t.same(ask('c'), { number: 3 })
  t.same(ask('a'), { number: 4 }, 'it was forgotten to make room')
})
