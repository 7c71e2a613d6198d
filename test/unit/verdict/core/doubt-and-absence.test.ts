import t from 'tap'
import { shiftStateTimes } from '../../../../control-plane/verdict/core/rules/clock-step.ts'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, Policy, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { findLastCountedMs, markUnchecked } from '../../../../control-plane/verdict/core/unknown-status/unchecked.ts'
import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { buildPolicy, buildResult, START_MS, testRows } from './runs.ts'

const absences = (region: string, from: number, until = Infinity) => ({
  absences: new Map([[region, { fromMs: START_MS + from * 1_000, untilMs: START_MS + until * 1_000 }]]),
})
const doubtedAt = (at: number) => `us ${at} x[d] ${at + 1} x[d,s=${at},a=2] ${at + 4} x[d,s=${at},a=3]`

// docs/design/doubt.md and docs/design/verdict.md#absent-regions together
testRows([
  {
    title: 'a doubt from before the region lost its probe has no effect after that',
    policy: { regions: ['us-east'], ...absences('us-east', 100, 400) },
    run: `us 0 .
          ${doubtedAt(60)}
          ${doubtedAt(410)}`,
    statuses: 'up@0',
  },
  {
    title: 'the lost vote of a region without a probe confirms no doubt of another region',
    policy: { regions: ['us-east', 'eu-west'], ...absences('eu-west', 130) },
    run: `us 0 . 70 . 131 .
          eu 0 . 60 x 61 x[s=60,a=2] 64 x[s=60,a=3]
          ${doubtedAt(190)}`,
    statuses: 'up@0 degraded@70 up@131(reduced)',
  },
  {
    title: 'the lost vote of a doubted region without a probe confirms no doubt either',
    policy: { regions: ['us-east', 'eu-west'], ...absences('eu-west', 130) },
    run: `us 0 . 70 . 131 .
          eu 0 . 60 x[d] 61 x[d,s=60,a=2] 64 x[d,s=60,a=3]
          ${doubtedAt(190)}`,
    statuses: 'up@0',
  },
])

const alone = buildPolicy({ regions: ['us-east'] })

/** Feeds failures that are doubted, `[second, attempt]` with the slot `slotS`. */
function fail(state: MonitorState, policy: Policy, slotS: number, attempts: [second: number, attempt: number][]) {
  let next = state
  for (const [second, attempt] of attempts) {
    const scheduledAtMs = START_MS + slotS * 1_000
    const result: VerdictResult = {
      ...buildResult({ region: 'us-east', scheduledAtMs, attempt, outcome: Outcome.DOWN }),
      isDoubted: true,
    }
    next = decide(next, result, policy, START_MS + second * 1_000).state
  }
  return next
}
const up = decide(
  createMonitorState('m-1', 1),
  buildResult({ region: 'us-east', scheduledAtMs: START_MS, outcome: Outcome.UP }),
  alone,
  START_MS,
).state
const inDoubt = fail(up, alone, 60, [
  [60, 1],
  [61, 2],
  [64, 3],
])

t.test('a doubt from before the monitor lost its status has no effect after it', async t => {
  const unchecked = markUnchecked(inDoubt, findLastCountedMs(inDoubt)!)
  const after = fail(unchecked, alone, 410, [
    [410, 1],
    [411, 2],
    [414, 3],
  ])
  t.equal(after.status, 'up')
  t.equal(after.outageSinceMs, null)
})

t.test('a clock that is set ahead during a doubt does not make the next check count as a later one', async t => {
  const after = fail(shiftStateTimes(inDoubt, 60_000), alone, 130, [[130, 1]])
  t.equal(after.status, 'up')
  t.equal(fail(after, alone, 154, [[154, 1]]).status, 'down', 'a check that was due 20 s after the first failure does')
})
