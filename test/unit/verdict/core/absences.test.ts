import t from 'tap'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState, restoreState } from '../../../../control-plane/verdict/core/rules/state.ts'
import { countVotes } from '../../../../control-plane/verdict/core/rules/votes.ts'
import type { MonitorState } from '../../../../control-plane/verdict/core/types.ts'
import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { buildPolicy, buildResult, START_MS, testRows } from './runs.ts'

const from = (second: number, until = Infinity) => ({
  fromMs: START_MS + second * 1_000,
  untilMs: START_MS + until * 1_000,
})
const absent = (region: string, second: number, until?: number) => ({
  absences: new Map([[region, from(second, until)]]),
})
const twoAbsent = (second: number, until: number) => ({
  absences: new Map(['eu-west', 'ap-southeast'].map(region => [region, from(second, until)])),
})

testRows([
  {
    title: 'when one of two regions loses its probe, the other one decides immediately, by reduced quorum',
    policy: absent('eu-west', 80),
    run: `us  0..60/60 .  120 x 121 x 124 x
          eu  0..60/60 .`,
    statuses: 'up@0 down@124(reduced)',
  },
  {
    title: 'the failing vote of a region ends when it has no probe',
    policy: absent('eu-west', 100),
    run: `us  0 .  70..190/60 .
          eu  0 .  60 x 61 x 64 x`,
    statuses: 'up@0 degraded@70 up@130(reduced)',
  },
  {
    title: 'a vote counts until the region loses its probe, however late the results are read',
    policy: absent('eu-west', 300),
    run: `us  0..60/60 .  120 x 121 x 124 x  130 x
          eu  0..60/60 .  125 .`,
    statuses: 'up@0 degraded@125',
  },
  {
    title: 'a failure from before the absence is counted again with the next result',
    policy: absent('eu-west', 130),
    run: `us  0..60/60 .  120 x 121 x 124 x  180 x
          eu  0..60/60 .`,
    statuses: 'up@0 down@180(reduced)',
  },
  {
    title: 'three regions: the two remaining ones are a quorum of all',
    policy: absent('ap-southeast', 80),
    run: `us  0..60/60 .  120 x 121 x 124 x
          eu  0..60/60 .  120 x 121 x 125 x
          ap  0..60/60 .`,
    statuses: 'up@0 down@125',
  },
  {
    title: 'three regions: one of the two remaining ones does not decide alone',
    policy: absent('ap-southeast', 80),
    run: `us  0..60/60 .  120 x 121 x 124 x
          eu  0..60/60 .  125 .
          ap  0..60/60 .`,
    statuses: 'up@0 degraded@125',
  },
  {
    title: 'a probe that is back gives its region a vote with the first success',
    policy: absent('eu-west', 80, 200),
    run: `us  0..180/60 .  240 x 241 x 244 x
          eu  0..60/60 .  210 .  245 .`,
    statuses: 'up@0 degraded@245',
  },
  {
    title: 'a probe that is back gives its region no vote before its chain has decided',
    policy: absent('eu-west', 80, 200),
    run: `us  0..300/60 .
          eu  0..60/60 .  210 x 211 x`,
    statuses: 'up@0',
    regions: 'us=ok eu=pending',
  },
  {
    title: 'a region that failed before it lost its probe begins as a new one',
    policy: absent('eu-west', 80, 200),
    run: `us  0 .  70..310/60 .
          eu  0 .  60 x 61 x 64 x  210 .`,
    statuses: 'up@0 degraded@70 up@130(reduced)',
    regions: 'us=ok eu=ok',
  },
  {
    title: 'failures before and after an absence are not in a row',
    policy: absent('eu-west', 80, 200),
    run: `us  0..300/60 .
          eu  0 .  60 x 61 x  210 x`,
    statuses: 'up@0',
    regions: 'us=ok eu=pending',
  },
  {
    title: 'a region that publishes again counts immediately, even before its return is known',
    policy: absent('eu-west', 80),
    run: `us  0..180/60 .  240 x 241 x 244 x
          eu  0..60/60 .  210 .  245 .`,
    statuses: 'up@0 degraded@245',
  },
  {
    title: 'the first verdict does not wait for a region without a probe',
    policy: { ...absent('eu-west', -3_600), regions: ['us-east', 'eu-west'] },
    run: 'us  0 .',
    statuses: 'up@0(reduced)',
  },
  {
    title: 'the first verdict waits for a region that has a probe again',
    policy: { ...absent('eu-west', -3_600, -60), regions: ['us-east', 'eu-west'] },
    run: `us  0 .
          eu  20 .`,
    statuses: 'up@20',
  },
  {
    title: 'a region without a probe does not affect a hold: the five minutes begin with the quorum of the others',
    policy: absent('ap-southeast', 80),
    run: `us  0..300/60 .  360 x 361 x 364 x  420..480/60 x
          eu  0 .
          ap  0 .`,
    statuses: 'up@0',
  },
  {
    title: 'a region that is back is waited for, even after an absence that was longer than the wait',
    policy: absent('eu-west', 80, 500),
    run: `us  0..480/60 .  540 x 541 x 544 x
          eu  0..60/60 .  550 .`,
    statuses: 'up@0 degraded@550',
  },
  {
    title: 'a region that is back without a result is waited for five minutes from its return',
    policy: absent('eu-west', 80, 500),
    run: `us  0..480/60 .  540 x 541 x 544 x  600..780/60 x  799 x  801 x
          eu  0..60/60 .`,
    statuses: 'up@0 down@801(reduced)',
  },
  {
    title: 'with a long interval, regions that are back are waited for until each of them was due',
    policy: { ...twoAbsent(80, 200), intervalMs: 3_600_000 },
    run: `us  0 .  600 x 601 x 604 x
          eu  0 .  1200 .
          ap  0 .`,
    statuses: 'up@0 degraded@1200',
  },
  {
    title: 'with a long interval, regions that are back without a result are waited for an interval and a chain',
    policy: { ...twoAbsent(80, 200), intervalMs: 3_600_000 },
    run: `us  0 .  600 x 601 x 604 x  3889 x  3890 x
          eu  0 .
          ap  0 .`,
    statuses: 'up@0 down@3890(reduced)',
  },
  {
    title: 'a success makes no monitor down, although the other region has lost its probe',
    policy: absent('eu-west', 100),
    run: `us  0 .  60 x 61 x 64 x  120 .  180 .
          eu  0 .  65 .`,
    statuses: 'up@0 degraded@65 up@180(reduced)',
  },
  {
    title: 'after a success the next failure makes a monitor down when the other region has lost its probe',
    policy: absent('eu-west', 100),
    run: `us  0 .  60 x 61 x 64 x  120 .  125 x
          eu  0 .  65 .`,
    statuses: 'up@0 degraded@65 down@125(reduced)',
  },
  {
    title: 'the wait begins when the regions that have a probe lose their quorum, not when an earlier vote ended',
    policy: absent('us-east', 30),
    run: `us  0 .
          eu  0..840/60 .  920 x 921 x 924 x  960..1140/60 x  1211 x
          ap  0..720/60 .
          uw  0 .`,
    statuses: 'up@0 down@1211(reduced)',
  },
])

/** The state of a region that was checked once at 0, restored with all results known from 600. */
function restored(outcome: Outcome, knownFromSecond: number | null): MonitorState {
  const result = buildResult({ region: 'eu-west', scheduledAtMs: START_MS, outcome })
  const { state } = decide(createMonitorState('m-1', 1), result, hourly(), START_MS)
  return restoreState(state, knownFromSecond === null ? null : START_MS + knownFromSecond * 1_000)
}
const hourly = (changes = {}) => buildPolicy({ regions: ['eu-west'], retryCount: 0, intervalMs: 3_600_000, ...changes })
const votesAt = (state: MonitorState, absences: object, second: number) =>
  countVotes(state, hourly(absences), START_MS + second * 1_000).voting

t.test('a region that was ok keeps its vote after a restart without a checkpoint', async t => {
  const short = absent('eu-west', 100, 200)
  t.equal(votesAt(restored(Outcome.UP, 600), short, 700), 1, 'results since the absence may be unknown')
  t.equal(votesAt(restored(Outcome.UP, null), short, 700), 0, 'all results are known')
  t.equal(votesAt(restored(Outcome.UP, 150), short, 700), 0, 'all results since the absence are known')
  t.equal(votesAt(restored(Outcome.UP, 600), absent('eu-west', 100), 700), 0, 'it has no probe yet')
  t.equal(votesAt(restored(Outcome.DOWN, 600), short, 700), 0, 'a failing region that was checked again is stored')
  const failed = buildResult({ region: 'eu-west', scheduledAtMs: START_MS + 700_000, outcome: Outcome.DOWN })
  const policy = hourly({ ...short, retryCount: 1 })
  const { state } = decide(restored(Outcome.UP, 600), failed, policy, START_MS + 700_000)
  t.match(state.cells, [{ state: 'ok', failures: 1 }], 'its next result finds it as it was')
})
