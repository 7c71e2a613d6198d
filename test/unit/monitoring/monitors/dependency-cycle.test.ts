import t from 'tap'
import { findCyclicMonitors } from '../../../../control-plane/monitoring/monitors/parents/dependency-cycle.ts'

/** `b>a`: b depends on a. */
const circleIn = (text: string) =>
  [
    ...findCyclicMonitors(
      text.split(' ').map(pair => {
        const [monitorId = '', parentId = ''] = pair.split('>')
        return { monitorId, parentId }
      }),
    ),
  ]
    .sort()
    .join('')

t.test('Monitors that depend on themselves are cyclic, those that only depend on such monitors are not', async t => {
  const rows: [string, string][] = [
    ['b>a c>b', ''],
    ['b>a c>b c>a', ''],
    ['b>a a>b', 'ab'],
    ['b>a c>b a>c', 'abc'],
    ['b>a a>b c>b a>d', 'ab'],
    ['b>a a>b d>c c>d', 'abcd'],
    ['a>a', 'a'],
  ]
  for (const [pairs, expected] of rows) t.equal(circleIn(pairs), expected, pairs)
})

t.test('A cycle of 100,000 monitors is found quickly, and a chain of them is not a cycle', async t => {
  const line = Array.from({ length: 100_000 }, (_, i) => ({ monitorId: `${i + 1}`, parentId: `${i}` }))
  t.equal(findCyclicMonitors(line).size, 0)
  t.equal(findCyclicMonitors([...line, { monitorId: '0', parentId: '100000' }]).size, 100_001)
})
