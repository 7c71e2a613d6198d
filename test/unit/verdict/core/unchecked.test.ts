import t from 'tap'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, Policy } from '../../../../control-plane/verdict/core/types.ts'
import {
  findLastCountedMs,
  formatUncheckedReason,
  markUnchecked,
} from '../../../../control-plane/verdict/core/unknown-status/unchecked.ts'
import { Outcome, Trigger } from '../../../../proto/gen/probe/v1/result.ts'
import { buildPolicy, buildResult, START_MS } from './runs.ts'

const [US, EU, AP] = ['us-east', 'eu-west', 'ap-southeast']

/** Counts `us 0 .` as [region, second, up]; returns the state and the transitions, such as `up>down@64`. */
function feed(state: MonitorState, policy: Policy, checks: [string, number, boolean][]) {
  const transitions: string[] = []
  let next = state
  for (const [region, second, up] of checks) {
    const atMs = START_MS + second * 1_000
    const result = buildResult({ region, scheduledAtMs: atMs, outcome: up ? Outcome.UP : Outcome.DOWN })
    const { state: after, transition } = decide(next, result, policy, atMs)
    if (transition) transitions.push(`${transition.from}>${transition.to}@${second}`)
    next = after
  }
  return { state: next, transitions: transitions.join(' ') }
}

const one = buildPolicy({ regions: [US!], retryCount: 1 })
const two = buildPolicy({ regions: [US!, EU!], retryCount: 0 })
const three = buildPolicy({ regions: [US!, EU!, AP!], retryCount: 0 })
const start = (policy: Policy, checks: [string, number, boolean][]) =>
  feed(createMonitorState('m-1', 1), policy, checks).state
const unchecked = (state: MonitorState) => markUnchecked(state, findLastCountedMs(state)!)
const upOnce = start(one, [[US!, 0, true]])
const downOnce = start(one, [
  [US!, 0, false],
  [US!, 1, false],
])
const inAll = (up: boolean): [string, number, boolean][] => [US!, EU!, AP!].map((region, i) => [region, i, up])
const upInAll = start(three, inAll(true))
const downInAll = start(three, inAll(false))

type Row = [title: string, state: MonitorState, policy: Policy, checks: [string, number, boolean][], expected: string]
const rows: Row[] = [
  [
    'up before and up afterwards shows the same status again',
    unchecked(upOnce),
    one,
    [[US!, 1_000, true]],
    'up>up@1000',
  ],
  [
    'up before and down afterwards goes down when the chain has decided, and not before',
    unchecked(upOnce),
    one,
    [
      [US!, 1_000, false],
      [US!, 1_001, false],
    ],
    'up>down@1001',
  ],
  ['down before and up afterwards ends the outage', unchecked(downOnce), one, [[US!, 1_000, true]], 'down>up@1000'],
  [
    'down before and down afterwards shows the same status again',
    unchecked(downOnce),
    one,
    [
      [US!, 1_000, false],
      [US!, 1_001, false],
    ],
    'down>down@1001',
  ],
  [
    'the first of two regions that is back does not decide before the other one had its time',
    unchecked(
      start(two, [
        [US!, 0, true],
        [EU!, 1, true],
      ]),
    ),
    two,
    [
      [US!, 1_000, false],
      [US!, 1_060, false],
      [EU!, 1_061, true],
    ],
    'up>degraded@1061',
  ],
  [
    'after three intervals it decides alone, as for a first verdict',
    unchecked(
      start(two, [
        [US!, 0, true],
        [EU!, 1, true],
      ]),
    ),
    two,
    [
      [US!, 1_000, true],
      [US!, 1_060, true],
      [US!, 1_120, true],
      [US!, 1_180, true],
    ],
    'up>up@1180',
  ],
  [
    'down before, and one of three regions fails afterwards: the votes decide, and not the status before',
    unchecked(downInAll),
    three,
    [
      [US!, 1_000, false],
      [EU!, 1_001, true],
      [AP!, 1_002, true],
      [EU!, 1_062, true],
    ],
    'down>degraded@1001',
  ],
  [
    'up before, and one of three regions fails afterwards: the status stays null until the others have answered',
    unchecked(upInAll),
    three,
    [
      [EU!, 1_000, true],
      [US!, 1_001, false],
      [EU!, 1_002, false],
    ],
    'up>down@1002',
  ],
]

for (const [title, state, policy, checks, expected] of rows) {
  t.test(title, async t => {
    const { state: after, transitions } = feed(state, policy, checks)
    t.equal(transitions, expected)
    t.equal(after.unchecked, null, 'it has a status again')
  })
}

t.test('an outage lasts from its start, even if nothing was checked in between', async t => {
  const { state } = feed(unchecked(downOnce), one, [])
  const { transition } = decide(state, buildResult({ region: US!, scheduledAtMs: START_MS + 1e6 }), one, START_MS + 1e6)
  t.equal(transition?.downDurationMs, 1e6 - 1_000)
})

t.test('an outage continues while a minority of the regions fails afterwards', async t => {
  const { state } = feed(unchecked(downInAll), three, [
    [US!, 1_000, false],
    [EU!, 1_001, true],
  ])
  t.equal(state.outageSinceMs, downInAll.outageSinceMs)
})

t.test(
  'a probe that makes one attempt a slot learns with its first result that the region begins as a new one',
  async t => {
    const failed = buildResult({ region: US!, scheduledAtMs: START_MS + 1e6, outcome: Outcome.DOWN })
    const regionState = (state: MonitorState) => decide(state, failed, one, START_MS + 1e6).regionState
    t.same(regionState(unchecked(downOnce)), { region: US, state: 'pending' })
    t.equal(regionState(downOnce), null, 'not while it is checked')
  },
)

t.test('the reason contains the time of the last check', async t => {
  t.equal(formatUncheckedReason(START_MS), 'no check has counted since 2026-01-01T00:00:00.000Z')
})

t.test('a monitor whose failures another probe contradicts in each slot counts as checked', async t => {
  let state = upOnce
  let seenMs = 0
  for (const slotS of [60, 120, 180, 240, 300]) {
    const scheduledAtMs = START_MS + slotS * 1_000
    const failed = (attempt: number) => buildResult({ region: US!, scheduledAtMs, attempt, outcome: Outcome.DOWN })
    seenMs = scheduledAtMs + 500
    const success = {
      ...buildResult({ region: US!, scheduledAtMs: seenMs }),
      probeId: 'us-east-p2',
      trigger: Trigger.OTHER_PROBE,
    }
    state = decide(state, failed(1), one, scheduledAtMs).state
    state = decide(state, success, one, seenMs).state
    state = decide(state, failed(2), one, seenMs + 500).state
  }
  t.equal(state.status, 'up')
  t.equal(findLastCountedMs(state), seenMs)
})
