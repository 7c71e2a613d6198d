import t from 'tap'
import { computeGraceMs, computeParentPendingMs } from '../../../control-plane/verdict/suppression/timing.ts'
import { decideNextAttempt } from '../../../probe-agent/schedule/rechecks/recheck.ts'
import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import { CONFIRM_BETTER_DELAY_MS, getRecheckDelayMs, sumRecheckDelaysMs } from '../../../shared/checks/rechecks.ts'
import { Outcome } from '../../../shared/checks/result.ts'

/** The time from a probe to the verdict, which the control plane adds. */
const RESULT_LATENCY_MS = 5_000

t.test('Re-checks follow after 1, 3, 5, 5 … s', async t => {
  t.same([1, 2, 3, 4, 5].map(getRecheckDelayMs), [1_000, 3_000, 5_000, 5_000, 5_000])
  t.same([0, 1, 2, 3, 4, 5].map(sumRecheckDelaysMs), [0, 1_000, 4_000, 9_000, 14_000, 19_000])
  t.equal(CONFIRM_BETTER_DELAY_MS, 5_000)
})

t.test('A probe waits exactly as long as the control plane assumes', async t => {
  const timing = { intervalSeconds: 60, timeoutMs: 1_000, heartbeatInterval: null, isHeartbeat: false }
  for (const retryCount of [0, 1, 2, 3, 4, 5]) {
    const delays: number[] = []
    for (const outcomes: Outcome[] = [Outcome.DOWN]; ; outcomes.push(Outcome.DOWN)) {
      const { recheckInMs } = decideNextAttempt(RegionState.OK, retryCount, outcomes)
      if (recheckInMs === null) break
      delays.push(recheckInMs)
    }
    t.equal(delays.length, retryCount)
    const waitsMs = delays.reduce((sum, delay) => sum + delay, 0)
    t.equal(computeParentPendingMs({ ...timing, retryCount }), waitsMs + (retryCount + 1) * 1_000 + RESULT_LATENCY_MS)
  }
  const { recheckInMs } = decideNextAttempt(RegionState.FAILING, 2, [Outcome.UP])
  t.equal(computeGraceMs({ ...timing, retryCount: 2 }), 60_000 + recheckInMs! + 2 * 1_000 + RESULT_LATENCY_MS)
})
