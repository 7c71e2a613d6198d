import t from 'tap'
import { wasInOutage } from '../../../../control-plane/verdict/core/rules/transition.ts'
import type { StatusTransition } from '../../../../control-plane/verdict/core/types.ts'

/** At minute 5; `since`: the minute at which the outage that continues or ends with it began. */
const ROWS: [
  title: string,
  from: StatusTransition['from'],
  to: StatusTransition['to'],
  since: number | null,
  expected: boolean,
][] = [
  ['up to down begins an outage', 'up', 'down', 5, false],
  ['a first verdict down begins an outage', null, 'down', 5, false],
  ['degraded to down begins an outage', 'degraded', 'down', 5, false],
  ['degraded to down continues an outage', 'degraded', 'down', 3, true],
  ['down to up ends an outage', 'down', 'up', 3, true],
  ['an outage ends at the moment at which it began', 'down', 'up', 5, true],
  ['down to degraded continues an outage', 'down', 'degraded', 3, true],
  ['degraded to up ends an outage', 'degraded', 'up', 3, true],
  ['degraded to up without an outage', 'degraded', 'up', null, false],
  ['up to degraded without an outage', 'up', 'degraded', null, false],
]

for (const [title, from, to, since, expected] of ROWS) {
  t.test(title, async t => {
    const downSinceMs = since === null ? null : since * 60_000
    t.equal(wasInOutage({ from, to, downSinceMs, atMs: 300_000 } as StatusTransition), expected)
  })
}
