import t from 'tap'
import type { CheckExecution } from '../../../probe-agent/execution/run-check.ts'
import { type AssignedMonitors, createAssignedMonitors } from '../../../probe-agent/schedule/assigned-monitors.ts'
import { type CheckLoop, createCheckLoop } from '../../../probe-agent/schedule/loop.ts'
import { resolveStartState } from '../../../probe-agent/schedule/rechecks/region-state.ts'
import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import { Outcome, type Result } from '../../../proto/gen/probe/v1/result.ts'
import { findSlotFrom } from '../../../shared/checks/slots.ts'
import { createLog } from '../../../shared/process/log.ts'
import { assignment, checkSpec } from '../../support/fleet-server.ts'
import { createVirtualTime } from '../../support/virtual-time.ts'

const { PENDING, OK, DEGRADED, FAILING } = RegionState
const INTERVAL_S = 30
const INTERVAL_MS = INTERVAL_S * 1_000
const START_MS = Date.UTC(2026, 7, 1)

/** the sent state, the conclusion of a chain, its age in s, and the start state of the next chain */
const ROWS: [RegionState, RegionState | null, number, RegionState, string][] = [
  [OK, null, 0, OK, 'nothing was found since'],
  [OK, FAILING, 0, FAILING, 'just found'],
  [OK, FAILING, 29, FAILING, 'the next slot waits for the confirmation'],
  [OK, FAILING, 30, OK, 'not confirmed for an interval: its results may not have counted'],
  [PENDING, DEGRADED, 30, PENDING, 'of a new monitor too'],
  [DEGRADED, FAILING, 60, DEGRADED, 'worse than the sent state'],
  [FAILING, OK, 0, OK, 'a recovery'],
  [FAILING, OK, 3_600, OK, 'better than the sent state: a new outage is confirmed immediately'],
  [FAILING, DEGRADED, 3_600, DEGRADED, 'better, but not up'],
]
for (const [state, found, seconds, expected, title] of ROWS) {
  t.test(`A chain begins with the right state: ${title}`, async t => {
    const concluded = found === null ? null : { state: found, atMs: 5_000 }
    const known = { state, concluded, slots: { intervalMs: INTERVAL_MS } }
    t.equal(resolveStartState(known, 5_000 + seconds * 1_000), expected)
  })
}

const observation = {
  error: null,
  timings: undefined,
  totalUs: 1000,
  statusCode: 200,
  headers: null,
  body: null,
  resolvedIp: null,
  certificate: null,
}

type Seen = {
  monitors: AssignedMonitors
  loop: CheckLoop
  attempts: () => number[]
  slots: (count: number) => Promise<void>
}

/** A monitor with two re-checks whose target is down; `slots` advances the time, `attempts` counts the attempts of each slot. */
function failing(): Seen {
  const time = createVirtualTime()
  const monitors = createAssignedMonitors('eu-west')
  const published: Result[] = []
  const loop = createCheckLoop({
    monitors,
    clock: { learn: () => 0, nowMs: () => START_MS + time.monotonicMs() },
    timers: time,
    run: async () => ({ observation, outcome: Outcome.DOWN, failedAssertions: [] }) as unknown as CheckExecution,
    publish: result => published.push(result),
    answer() {},
    maxConcurrentChecks: 10,
    log: createLog('test', 'silent'),
  })
  const upserts = [assignment('m1', checkSpec('http://127.0.0.1'), { intervalS: INTERVAL_S, retryCount: 2 })]
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  loop.setEpoch(1)
  // advance to a moment between two chains
  const firstMs = findSlotFrom(monitors.get('m1')!.slots, START_MS) - START_MS
  let passed = 0
  return {
    monitors,
    loop,
    attempts() {
      const slots = [...new Set(published.map(({ scheduledAtMs }) => scheduledAtMs))]
      return slots.map(slot => published.filter(({ scheduledAtMs }) => scheduledAtMs === slot).length)
    },
    async slots(count) {
      passed += count
      await time.pass(firstMs + (passed - 0.5) * INTERVAL_MS - time.monotonicMs())
    },
  }
}

t.test('A confirmed outage costs one attempt a slot', async t => {
  const { monitors, loop, attempts, slots } = failing()
  t.teardown(() => loop.drain())
  await slots(1)
  monitors.setStates([{ monitorId: 'm1', state: FAILING }])
  await slots(4)
  t.same(attempts(), [3, 1, 1, 1, 1])
})

t.test('An unconfirmed outage is decided again in every second slot', async t => {
  const { loop, attempts, slots } = failing()
  t.teardown(() => loop.drain())
  await slots(5)
  t.same(attempts(), [3, 1, 3, 1, 3])
})

const reasons: [string, (seen: Seen) => void][] = [
  ['a result was not published in time', ({ monitors }) => monitors.discardConclusion('m1')],
  ['the epoch has changed', ({ loop }) => loop.setEpoch(2)],
  ['the clock of the control plane was set', ({ loop }) => loop.clockLearned(2_000)],
  [
    'the control plane says that the region is well',
    ({ monitors }) => monitors.setStates([{ monitorId: 'm1', state: OK }]),
  ],
]
for (const [why, happens] of reasons) {
  t.test(`After a chain that did not count, the next slot is a complete chain: ${why}`, async t => {
    const seen = failing()
    t.teardown(() => seen.loop.drain())
    await seen.slots(1)
    happens(seen)
    await seen.slots(1)
    t.same(seen.attempts(), [3, 3])
  })
}

t.test('Changes of another monitor, or the same epoch again, have no effect', async t => {
  const { monitors, loop, attempts, slots } = failing()
  t.teardown(() => loop.drain())
  await slots(1)
  monitors.discardConclusion('m2')
  loop.setEpoch(1)
  loop.clockLearned(200)
  await slots(1)
  t.same(attempts(), [3, 1])
})
