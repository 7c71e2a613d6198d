import t from 'tap'
import { clampStateTimes, shiftStateTimes } from '../../../../control-plane/verdict/core/rules/clock-step.ts'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { DEFAULT_TOLERANCE } from '../../../../control-plane/verdict/core/rules/result-order.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, Policy, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { Outcome, Trigger } from '../../../../shared/checks/result.ts'

const START_MS = Date.UTC(2026, 7, 1)
const STEPS_MS = [60_000, 600_000, 3_600_000].flatMap(ms => [ms, -ms])
const policy: Policy = {
  configVersion: 1,
  streaksSince: 1,
  regions: ['us', 'eu', 'ap'],
  retryCount: 0,
  intervalMs: 30_000,
  timeoutMs: 10_000,
  expires: true,
}

function resultAt(region: string, scheduledAtMs: number, isUp: boolean): VerdictResult {
  return {
    region,
    probeId: `probe-${region}`,
    configVersion: 1,
    epoch: 1,
    scheduledAtMs,
    attempt: 1,
    outcome: isUp ? Outcome.UP : Outcome.DOWN,
    trigger: Trigger.SLOT,
    statusCode: 200,
    responseTimeMs: 10,
    error: null,
  }
}

/** Counts results; each is [region, time, up?]. Returns the state and the outcome of each. */
function feed(state: MonitorState, results: [string, number, boolean][]) {
  const made = results.map(([region, atMs, isUp]) => {
    const decision = decide(state, resultAt(region, atMs, isUp), policy, atMs)
    state = decision.state
    return decision.transition?.to ?? decision.reason ?? decision.kind
  })
  return { state, made }
}

const seen = feed(createMonitorState('m-1', 1), [
  ['us', START_MS, true],
  ['eu', START_MS + 1_000, true],
  ['ap', START_MS + 2_000, true],
])

for (const stepMs of STEPS_MS) {
  const by = `${stepMs > 0 ? '+' : ''}${stepMs / 1_000} s`
  const later = START_MS + 30_000 + stepMs
  t.test(`a clock that is set by ${by} ends no vote, and the next results count`, async t => {
    const { state } = seen
    const outage = feed(shiftStateTimes(state, stepMs), [
      ['us', later, false],
      ['eu', later + 1_000, false],
    ])
    t.same(outage.made, ['counted', 'down'], 'two of three votes, the third is as old as before')
    t.match(outage.state.cells.length, 3)
    const backAgain = feed(shiftStateTimes(outage.state, -stepMs), [
      ['us', START_MS + 60_000, true],
      ['eu', START_MS + 61_000, true],
    ])
    t.equal(backAgain.made[1], 'up', 'also after the clock was set right')
  })
  t.test(`a hold lasts as long as without a clock that is set by ${by}`, async t => {
    const voteLifeMs = 3 * policy.intervalMs + policy.timeoutMs
    const lostAtMs = START_MS + voteLifeMs + 2_000
    const alone = feed(seen.state, [
      ['us', START_MS + 60_000, false],
      ['us', lostAtMs, false],
    ])
    t.not(alone.state.quorumLostSinceMs, null, 'one of three votes: held')
    const held = feed(shiftStateTimes(alone.state, stepMs), [['us', lostAtMs + 30_000 + stepMs, false]])
    t.equal(held.made[0], 'counted', 'still held')
  })
}

t.test('results counted by a clock that was ahead delay nothing after a restart', async t => {
  const aheadMs = 3_600_000
  const ahead = feed(seen.state, [
    ['us', START_MS + aheadMs, true],
    ['eu', START_MS + aheadMs + 1_000, true],
    ['ap', START_MS + aheadMs + 2_000, true],
  ])
  const next = START_MS + 60_000
  const stored = clampStateTimes(ahead.state, next)
  t.equal(Math.max(...stored.cells.map(({ votedAtMs }) => votedAtMs!)), next)
  const counted = feed(stored, [
    ['us', next, false],
    ['eu', next + 1_000, false],
  ])
  t.same(counted.made, ['counted', 'down'])
  t.same(feed(counted.state, [['eu', next + 1_000, false]]).made, ['not_newer'], 'and once only')
  t.equal(clampStateTimes(seen.state, next), seen.state, 'a state without such times stays the same one')
})

t.test('a second opinion and a doubt from a clock that was ahead do not delay an outage', async t => {
  const aheadMs = 3_600_000
  const retries = { ...policy, retryCount: 1, regions: ['us'] }
  const next = START_MS + 60_000
  const count = (state: MonitorState, result: VerdictResult, atMs: number) => decide(state, result, retries, atMs)
  const failed = (atMs: number) => resultAt('us', atMs, false)
  const aheadAtMs = START_MS + aheadMs
  let { state } = count(createMonitorState('m-1', 1), resultAt('us', aheadAtMs, true), aheadAtMs)
  state = count(state, { ...failed(aheadAtMs + 30_000), isDoubted: true }, aheadAtMs + 30_000).state
  const other = { ...resultAt('us', aheadAtMs + 31_000, true), probeId: 'probe-2', trigger: Trigger.OTHER_PROBE }
  state = clampStateTimes(count(state, other, aheadAtMs + 31_000).state, next)
  t.match(state.cells, [{ failures: 1, secondOpinion: { probeId: 'probe-2' }, doubt: { settledBy: null } }])
  t.ok(findLatestMs(state) <= next, 'no time is ahead')
  const statuses = [0, 30_000, 60_000].map(laterMs => {
    const decision = count(state, failed(next + laterMs), next + laterMs)
    state = decision.state
    return decision.transition?.to ?? decision.disagreement?.otherProbeId ?? decision.kind
  })
  t.same(
    statuses,
    ['probe-2', 'probe-2', 'down'],
    'the other probe is asked again, and no answer ends its contradiction',
  )
})

t.test('a check by a clock that was set back is not an answer to a later failure', t => {
  const both = { ...policy, regions: ['us', 'eu'] }
  const aheadMs = 3_600_000
  const tolerance = { ...DEFAULT_TOLERANCE, futureMs: DEFAULT_TOLERANCE.futureMs + aheadMs }
  const next = START_MS + 30_000
  let state = feed(createMonitorState('m-1', 1), [
    ['us', START_MS, true],
    ['eu', START_MS, true],
  ]).state
  const count = (result: VerdictResult, atMs: number) => {
    const decision = decide(state, result, both, atMs, tolerance)
    state = decision.state
    return decision.transition?.to ?? decision.kind
  }
  t.equal(count(resultAt('eu', next, false), next), 'counted')
  // sent a second after it began, by a probe that has not received the new time
  t.equal(count(resultAt('us', next - 1_000 + aheadMs, true), next + 3), 'counted', 'it began before the failure')
  t.equal(count(resultAt('us', next + 1_000, false), next + 1_003), 'down', 'without a degraded in between')
  t.end()
})

/** The latest time in a state, except for those of the newest result, which is shown as it was. */
function findLatestMs(state: object): number {
  return Math.max(
    ...Object.entries(state).map(([key, value]) => {
      if (value === null || key === 'fence' || key === 'last') return 0
      if (typeof value === 'object') return findLatestMs(value)
      return key.endsWith('Ms') && typeof value === 'number' && key !== 'responseTimeMs' ? value : 0
    }),
    0,
  )
}
