import t from 'tap'
import { groupBySize } from '../../../../control-plane/insight/analytics/recording/size-groups.ts'

t.test('Groups stay within the size limit, in order, and a larger item is alone', async t => {
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
