import t from 'tap'
import { findOutlier, type ProbeDisagreement } from '../../../../control-plane/monitoring/fleet/probes/outlier.ts'

/** `about` so many monitors, one after the other. */
const between = (probeId: string, otherProbeId: string, odd: string | null, count: number, about = 'm') =>
  Array.from(
    { length: count },
    (_, i): ProbeDisagreement => ({ monitorId: `${about}${i}`, probeId, otherProbeId, oddProbeId: odd }),
  )

const rows: [what: string, seen: ProbeDisagreement[], live: string[], drained: string | null][] = [
  ['nobody disagrees', [], ['a', 'b'], null],
  ['the other regions contradict one about five monitors', between('a', 'b', 'a', 5), ['a', 'b'], 'a'],
  ['about four', between('a', 'b', 'a', 4), ['a', 'b'], null],
  ['again and again about one', Array(20).fill(between('a', 'b', 'a', 1)[0]), ['a', 'b'], null],
  ['the one that says all is well is the odd one', between('a', 'b', 'b', 6), ['a', 'b'], 'b'],
  ['both are contradicted alike', [...between('a', 'b', 'a', 6), ...between('a', 'b', 'b', 6, 'n')], ['a', 'b'], null],
  ['one three times as often', [...between('a', 'b', 'a', 6), ...between('a', 'b', 'b', 2, 'n')], ['a', 'b'], 'a'],
  [
    'one not quite three times as often',
    [...between('a', 'b', 'a', 6), ...between('a', 'b', 'b', 3, 'n')],
    ['a', 'b'],
    null,
  ],
  ['two probes and no other region to tell', between('a', 'b', null, 50), ['a', 'b'], null],
  [
    'without other regions two peers tell',
    [...between('a', 'b', null, 3), ...between('a', 'c', null, 3, 'n')],
    ['a', 'b', 'c'],
    'a',
  ],
  [
    'they tell also of one that always says all is well',
    [...between('b', 'a', null, 3), ...between('c', 'a', null, 3, 'n')],
    ['a', 'b', 'c'],
    'a',
  ],
  [
    'three that all contradict each other',
    [...between('a', 'b', null, 9), ...between('b', 'c', null, 9, 'n'), ...between('c', 'a', null, 9, 'o')],
    ['a', 'b', 'c'],
    null,
  ],
  ['one that is gone already', between('a', 'b', 'a', 9), ['b', 'c'], null],
]

t.test('which probe disagrees often enough to be drained', async t => {
  for (const [what, seen, live, drained] of rows) t.equal(findOutlier(seen, live), drained, what)
})
