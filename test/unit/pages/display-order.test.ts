import fc from 'fast-check'
import t from 'tap'
import {
  compareDisplayOrder,
  getNextDisplayOrder,
  reorderItems,
} from '../../../control-plane/pages/core/display-order.ts'

const placed = (...items: [string, number][]) => items.map(([id, displayOrder]) => ({ id, displayOrder }))
const sortIds = (places: { id: string; displayOrder: number }[]) =>
  places.toSorted(compareDisplayOrder).map(({ id }) => id)

t.test('Items are ordered by their display order, then by age', async t => {
  t.same(sortIds(placed(['c', 1], ['a', 2], ['b', 1])), ['b', 'c', 'a'])
})

t.test('A new item comes last', async t => {
  t.equal(getNextDisplayOrder([]), 0)
  t.equal(getNextDisplayOrder(placed(['a', 4], ['b', 2])), 5)
})

t.test('Listed items exchange their positions', async t => {
  const before = placed(['a', 0], ['b', 0], ['group', 5], ['c', 9])
  t.same(sortIds(reorderItems(before, ['c', 'a'])), ['c', 'b', 'group', 'a'])
  t.same(sortIds(reorderItems(before, ['b'])), ['a', 'b', 'group', 'c'])
})

t.test('Any reordering keeps all items, keeps the positions of others, and gives distinct positions', async t => {
  const places = fc.uniqueArray(fc.record({ id: fc.uuid(), displayOrder: fc.integer({ min: 0, max: 3 }) }), {
    selector: ({ id }) => id,
    maxLength: 8,
  })
  const cases = places.chain(before => fc.tuple(fc.constant(before), fc.shuffledSubarray(before.map(({ id }) => id))))
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(cases, ([before, named]) => {
        const after = reorderItems(before, named)
        const [was, is] = [sortIds(before), sortIds(after)]
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
