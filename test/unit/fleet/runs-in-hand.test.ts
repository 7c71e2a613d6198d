import t from 'tap'
import type { Link } from '../../../control-plane/fleet/link.ts'
import { forgetRuns, type RunsInHand, takeInHand, witnessedBy } from '../../../control-plane/fleet/runs-in-hand.ts'

t.test('a run is remembered for as long as anybody may wait for it, 65 s from when it was last handed on', async t => {
  const link = {} as Link
  const runs: RunsInHand = new Map()
  takeInHand(runs, 'moved', link, 0)
  takeInHand(runs, 'first', link, 1_000)
  takeInHand(runs, 'moved', link, 2_000)
  const left = (nowMs: number) => {
    forgetRuns(runs, nowMs)
    return [...runs.keys()]
  }
  t.same(left(66_000), ['first', 'moved'])
  t.same(left(66_001), ['moved'])
  t.same(left(67_001), [])
})

t.test('the checks of a witness are counted for each link and tenant, other runs are not', async t => {
  const [one, another] = [{} as Link, {} as Link]
  const runs: RunsInHand = new Map()
  const witnessed = { tenant: 1, monitorId: 'm', configVersion: 1, scheduledAtMs: 5 }
  takeInHand(runs, 'a', one, 0, witnessed)
  takeInHand(runs, 'b', one, 0, witnessed)
  takeInHand(runs, 'c', another, 0, witnessed)
  takeInHand(runs, 'd', one, 0)
  takeInHand(runs, 'e', one, 0, { ...witnessed, tenant: 2 })
  t.same(witnessedBy(runs, one, 1), { all: 3, ofTenant: 2 })
  t.same(witnessedBy(runs, one, 2), { all: 3, ofTenant: 1 })
  t.same(witnessedBy(runs, another, 2), { all: 1, ofTenant: 0 })
})
