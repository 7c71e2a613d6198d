import t from 'tap'
import { findOutlierProbe } from '../../../../control-plane/verdict/core/confirmation/outlier-probe.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import { createRegionTally } from '../../../../control-plane/verdict/core/rules/streaks.ts'
import type { Policy, RegionState, RegionTally, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'

const NOW_MS = 1_000_000
const policy: Policy = {
  configVersion: 1,
  streaksSince: 1,
  regions: ['eu-west', 'us-east', 'us-west', 'ap-southeast'],
  retryCount: 2,
  intervalMs: 30_000,
  timeoutMs: 10_000,
  expires: true,
}
const disagreement = { region: 'eu-west', probeId: 'failing', otherProbeId: 'well' }

const cell = (region: string, state: RegionState, change: Partial<RegionTally> = {}): RegionTally => ({
  ...createRegionTally({ region } as VerdictResult),
  state,
  votedAtMs: NOW_MS - 1_000,
  ...change,
})

const rows: [what: string, others: RegionTally[], outlier: string | null][] = [
  ['no other region', [], null],
  ['another region is well', [cell('us-east', 'ok')], 'failing'],
  ['another region fails', [cell('us-east', 'failing')], 'well'],
  ['another region is in its re-checks', [cell('us-east', 'ok', { failures: 1 })], 'well'],
  ['another region is slow', [cell('us-east', 'degraded')], 'failing'],
  ['the others are divided', [cell('us-east', 'ok'), cell('us-west', 'failing')], null],
  ['most are well', [cell('us-east', 'ok'), cell('us-west', 'failing'), cell('ap-southeast', 'ok')], 'failing'],
  ['a vote grew old', [cell('us-east', 'ok', { votedAtMs: NOW_MS - 100_001 })], null],
  ['a region has not decided yet', [cell('us-east', 'pending')], null],
]

t.test('the other regions identify the outlier of two probes that contradict each other', async t => {
  for (const [what, others, outlier] of rows) {
    const cells = [cell('eu-west', 'ok', { failures: 2 }), ...others]
    t.equal(findOutlierProbe({ ...createMonitorState('m', 1), cells }, disagreement, policy, NOW_MS), outlier, what)
  }
})
