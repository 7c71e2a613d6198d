import fc from 'fast-check'
import t from 'tap'
import { byOrder, placeAtEnd, reordered } from '../../../control-plane/status-pages/order.ts'

const placed = (...items: [string, number][]) => items.map(([id, displayOrder]) => ({ id, displayOrder }))
const idsOf = (places: { id: string; displayOrder: number }[]) => places.toSorted(byOrder).map(({ id }) => id)

t.test('things stand by their order, then by their age', async t => {
  t.same(idsOf(placed(['c', 1], ['a', 2], ['b', 1])), ['b', 'c', 'a'])
})

t.test('what is new comes last', async t => {
  t.equal(placeAtEnd([]), 0)
  t.equal(placeAtEnd(placed(['a', 4], ['b', 2])), 5)
})

t.test('the named ones change places among themselves', async t => {
  const before = placed(['a', 0], ['b', 0], ['group', 5], ['c', 9])
  t.same(idsOf(reordered(before, ['c', 'a'])), ['c', 'b', 'group', 'a'])
  t.same(idsOf(reordered(before, ['b'])), ['a', 'b', 'group', 'c'])
})

t.test('whatever is reordered, nothing is lost, the unnamed stay, and places are told apart', async t => {
  const places = fc.uniqueArray(fc.record({ id: fc.uuid(), displayOrder: fc.integer({ min: 0, max: 3 }) }), {
    selector: ({ id }) => id,
    maxLength: 8,
  })
  const cases = places.chain(before => fc.tuple(fc.constant(before), fc.shuffledSubarray(before.map(({ id }) => id))))
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(cases, ([before, named]) => {
        const after = reordered(before, named)
        const [was, is] = [idsOf(before), idsOf(after)]
        return (
          is.length === was.length &&
          is.filter(id => named.includes(id)).join() === named.join() &&
          was.every((id, i) => named.includes(id) || is[i] === id) &&
          new Set(after.map(({ displayOrder }) => displayOrder)).size === after.length
        )
      }),
    ),
  )
})
