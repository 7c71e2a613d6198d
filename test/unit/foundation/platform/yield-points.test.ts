import t from 'tap'
import { createYieldPoint } from '../../../../control-plane/foundation/platform/time/clock.ts'

t.test('One piece of all long work runs between two turns of the event loop', async t => {
  let piecesSinceTurn = 0
  let most = 0
  let isDone = false
  const order: string[] = []
  const turn = () => {
    piecesSinceTurn = 0
    if (!isDone) setImmediate(turn)
  }
  const work = async (name: string) => {
    const pause = createYieldPoint(0)
    for (let i = 0; i < 5; i++) {
      await pause()
      order.push(name)
      most = Math.max(most, ++piecesSinceTurn)
    }
  }
  setImmediate(turn)
  await Promise.all(['a', 'b', 'c'].map(work))
  isDone = true
  t.equal(most, 1)
  t.same(order, Array.from({ length: 5 }, () => ['a', 'b', 'c']).flat(), 'each in its turn')
})
