import t from 'tap'
import {
  countWitnessRuns,
  expireRuns,
  type InFlightRuns,
  trackRun,
} from '../../../../control-plane/monitoring/fleet/on-demand/in-flight-runs.ts'
import type { ProbeSession } from '../../../../control-plane/monitoring/fleet/sessions/session.ts'

t.test('A run expires 65 s after it was last sent to a probe', async t => {
  const session = {} as ProbeSession
  const runs: InFlightRuns = new Map()
  trackRun(runs, 'moved', session, 0)
  trackRun(runs, 'first', session, 1_000)
  trackRun(runs, 'moved', session, 2_000)
  const left = (nowMs: number) => {
    expireRuns(runs, nowMs)
    return [...runs.keys()]
  }
  t.same(left(66_000), ['first', 'moved'])
  t.same(left(66_001), ['moved'])
  t.same(left(67_001), [])
})

t.test('Checks of a witness are counted for each session and tenant, other runs are not', async t => {
  const [one, another] = [{} as ProbeSession, {} as ProbeSession]
  const runs: InFlightRuns = new Map()
  const witnessed = { tenant: 1, monitorId: 'm', configVersion: 1, scheduledAtMs: 5 }
  trackRun(runs, 'a', one, 0, witnessed)
  trackRun(runs, 'b', one, 0, witnessed)
  trackRun(runs, 'c', another, 0, witnessed)
  trackRun(runs, 'd', one, 0)
  trackRun(runs, 'e', one, 0, { ...witnessed, tenant: 2 })
  t.same(countWitnessRuns(runs, one, 1), { all: 3, ofTenant: 2 })
  t.same(countWitnessRuns(runs, one, 2), { all: 3, ofTenant: 1 })
  t.same(countWitnessRuns(runs, another, 2), { all: 1, ofTenant: 0 })
})
