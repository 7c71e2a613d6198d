import t from 'tap'
import { wasInOutage } from '../../../../control-plane/verdict/core/outage.ts'
import type { StatusTransition } from '../../../../control-plane/verdict/core/types.ts'

/** At minute 5; `since`: the minute at which the outage began that goes on or ends with it. */
const ROWS: [
  title: string,
  from: StatusTransition['from'],
  to: StatusTransition['to'],
  since: number | null,
  expected: boolean,
][] = [
  ['up to down begins one', 'up', 'down', 5, false],
  ['a first verdict that is down begins one', null, 'down', 5, false],
  ['degraded to down begins one', 'degraded', 'down', 5, false],
  ['degraded to down goes on with one', 'degraded', 'down', 3, true],
  ['down to up ends one', 'down', 'up', 3, true],
  ['one that is over in the moment in which it began', 'down', 'up', 5, true],
  ['down to degraded goes on with one', 'down', 'degraded', 3, true],
  ['degraded to up ends one', 'degraded', 'up', 3, true],
  ['degraded to up without one', 'degraded', 'up', null, false],
  ['up to degraded without one', 'up', 'degraded', null, false],
]

for (const [title, from, to, since, expected] of ROWS) {
  t.test(title, async t => {
    const downSinceMs = since === null ? null : since * 60_000
    t.equal(wasInOutage({ from, to, downSinceMs, atMs: 300_000 } as StatusTransition), expected)
  })
}
