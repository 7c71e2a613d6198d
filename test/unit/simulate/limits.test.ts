import t from 'tap'
import {
  computeDetectionLimits,
  computeTransitionInDoubtMs,
  FAILURE_MODES,
} from '../../../control-plane/monitoring/monitors/settings/guarantee.ts'
import { limitInDoubtMs, limitMs } from '../../simulate/oracle/limits.ts'

const INTERVALS_S = [30, 60, 300]
const TIMEOUTS_MS = [1_000, 5_000, 10_000, 30_000, 60_000]
const RE_CHECKS = [0, 1, 2, 5]

t.test('the limits of the oracle equal those that the API returns', async t => {
  for (const intervalS of INTERVALS_S)
    for (const timeoutMs of TIMEOUTS_MS)
      for (const retryCount of RE_CHECKS) {
        const pace = { intervalMs: intervalS * 1000, timeoutMs: Math.min(timeoutMs, intervalS * 1000), retryCount }
        const answered = computeDetectionLimits(pace).map(({ kind, transitionMs }) => [kind, Math.round(transitionMs)])
        const promised = FAILURE_MODES.map(kind => [
          kind,
          Math.round(limitMs(kind, { intervalS, timeoutMs, retryCount }, false)),
        ])
        for (const regions of [1, 2])
          for (const kind of FAILURE_MODES)
            t.equal(
              Math.round(limitInDoubtMs(kind, { intervalS, timeoutMs, retryCount }, false, regions)),
              Math.round(computeTransitionInDoubtMs(kind, pace, regions)),
              `in doubt: ${kind}, ${regions} regions, ${intervalS} s, timeout ${timeoutMs} ms, ${retryCount} re-checks`,
            )
        t.same(promised, answered, `${intervalS} s, timeout ${timeoutMs} ms, ${retryCount} re-checks`)
      }
})
