import t from 'tap'
import { findOutlier, type ProbeDisagreement } from '../../../../control-plane/monitoring/fleet/probes/outlier.ts'

/** Disagreements about different hosts. */
const between = (probeId: string, otherProbeId: string, outlier: string | null, count: number, about = 'm') =>
  Array.from(
    { length: count },
    (_, i): ProbeDisagreement => ({ target: `${about}${i}`, probeId, otherProbeId, oddProbeId: outlier }),
  )

const rows: [what: string, seen: ProbeDisagreement[], live: string[], drained: string | null][] = [
  ['no disagreement', [], ['a', 'b'], null],
  ['the other regions contradict one about five hosts', between('a', 'b', 'a', 5), ['a', 'b'], 'a'],
  ['about four', between('a', 'b', 'a', 4), ['a', 'b'], null],
  ['many times about one host', Array(20).fill(between('a', 'b', 'a', 1)[0]), ['a', 'b'], null],
  ['the probe that reports success is the outlier', between('a', 'b', 'b', 6), ['a', 'b'], 'b'],
  [
    'both are contradicted equally often',
    [...between('a', 'b', 'a', 6), ...between('a', 'b', 'b', 6, 'n')],
    ['a', 'b'],
    null,
  ],
  [
    'one is contradicted three times as often',
    [...between('a', 'b', 'a', 6), ...between('a', 'b', 'b', 2, 'n')],
    ['a', 'b'],
    'a',
  ],
  [
    'one is contradicted less than three times as often',
    [...between('a', 'b', 'a', 6), ...between('a', 'b', 'b', 3, 'n')],
    ['a', 'b'],
    null,
  ],
  ['two probes without other regions', between('a', 'b', null, 50), ['a', 'b'], null],
  [
    'without other regions two other probes decide',
    [...between('a', 'b', null, 3), ...between('a', 'c', null, 3, 'n')],
    ['a', 'b', 'c'],
    'a',
  ],
  [
    'they also identify a probe that always reports success',
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
  ['the outlier is not live', between('a', 'b', 'a', 9), ['b', 'c'], null],
]

t.test('The probe that disagrees often enough is found', async t => {
  for (const [what, seen, live, drained] of rows) t.equal(findOutlier(seen, live), drained, what)
})
