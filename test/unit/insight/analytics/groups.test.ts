import t from 'tap'
import { groupBySize } from '../../../../control-plane/insight/analytics/recording/size-groups.ts'

t.test('what is written at once stays within a size, in order, and what is larger goes alone', async t => {
  const cases: [number[], number[][]][] = [
    [[], []],
    [[3], [[3]]],
    [[30], [[30]]],
    [
      [5, 5, 5],
      [[5, 5], [5]],
    ],
    [
      [30, 1, 9, 1, 30],
      [[30], [1, 9], [1], [30]],
    ],
  ]
  for (const [sizes, groups] of cases)
    t.same(
      groupBySize(sizes, size => size, 10),
      groups,
    )
})
