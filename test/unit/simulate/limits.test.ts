import t from 'tap'
import {
  computeDetectionLimits,
  computeFaultDelays,
  computeTransitionInDoubtMs,
  FAILURE_MODES,
} from '../../../control-plane/monitoring/monitors/settings/guarantee.ts'
import { createFaultIndex, extendLimit } from '../../simulate/oracle/faults-under-way.ts'
import { limitInDoubtMs, limitMs } from '../../simulate/oracle/limits.ts'
import { buildHour, fault, HOUR, MIN, TEN } from '../../support/simulated-hour.ts'

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

const FAULTS = {
  probe_lost: { ...fault('probe-killed', TEN, MIN, 'us-east'), place: 'us-east-1' },
  acknowledgements_lost: fault('acks-lost', TEN, MIN, null),
  control_plane_lost: fault('verdict-killed', TEN, MIN, null),
  regions_lost: fault('region-dead', TEN, 10 * HOUR, 'us-east'),
  all_regions_lost: fault('region-dead', TEN, MIN, 'us-east'),
  nats_or_postgresql_lost: fault('nats-away', TEN, MIN, null),
}

t.test('the delay that the oracle adds for a fault equals the one that the API returns', async t => {
  for (const intervalS of [30, 60, 300, 3_600])
    for (const regions of [['us-east'], ['us-east', 'eu-west']])
      for (const { fault: kind, addedMs, addsDuration } of computeFaultDelays(
        { intervalMs: intervalS * 1000 },
        regions.length,
      )) {
        const of = kind === 'all_regions_lost' ? ['us-east'] : regions
        const baseMs = limitMs('refused', { intervalS, timeoutMs: 10_000, retryCount: 2 }, false)
        const index = createFaultIndex(buildHour({ faults: [FAULTS[kind]] }))
        const { limitMs: extendedMs } = extendLimit(index, TEN, baseMs, { regions: of, intervalS }, 2)
        t.equal(extendedMs - baseMs, addedMs + (addsDuration ? MIN : 0), `${kind}, every ${intervalS} s`)
      }
})
