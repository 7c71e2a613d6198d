import t from 'tap'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { DEFAULT_TOLERANCE, REPLAY_TOLERANCE } from '../../../../control-plane/verdict/core/rules/result-order.ts'
import { createMonitorState, restoreState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState } from '../../../../control-plane/verdict/core/types.ts'
import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { asStored, buildPolicy, buildResult, play, START_MS, testRows } from './runs.ts'

// Faults and changes at the worst moment, one row for each.
testRows([
  {
    title: 'a restart in the middle of a failing streak with retry_count 5 neither loses nor adds an attempt',
    policy: { retryCount: 5 },
    run: `us      0 .  60 x 61 x 64 x  69 x 74 x 79 x
          restart 65`,
    statuses: 'up@0 down@79',
  },
  {
    title: 'a restart after each attempt with retry_count 5 changes nothing',
    policy: { retryCount: 5 },
    run: `us      0 .  60 x 61 x 64 x  69 x 74 x 79 x
          restart 60.5 61.5 65 70 75 80`,
    statuses: 'up@0 down@79',
  },
  {
    title: 'a restart with retry_count 0 creates no failure',
    policy: { retryCount: 0 },
    run: `us      0 .  60 .  120 x 180 .
          restart 59 61 121`,
    statuses: 'up@0 down@120 up@180',
  },
  {
    title: 'a restart in an outage neither ends it nor begins another one',
    run: `us      0 x 1 x 4 x  60 x  120 . 125 .
          restart 10 121`,
    statuses: 'down@4 up@125',
  },
  {
    title: 'a restart does not restore an expired vote',
    run: `us      0..600/60 .
          eu      0 .  10 x 11 x 14 x
          ap      0 .  10 x 11 x 14 x
          restart 100 560 599`,
    statuses: 'up@0 down@14 up@540(reduced)',
  },
  {
    title: 'a restart does not extend a hold',
    run: `us      0..180/60 .  240 x 241 x 244 x  300..480/60 x 490 x
          eu      0 .
          ap      0 .
          restart 100 242 301 485`,
    statuses: 'up@0 down@490(reduced)',
  },
  {
    title: 'a restart does not count as an answer of the other regions',
    run: `us      0 .  60 x 61 x 64 x
          eu      0 .  61.1 x 62.1 x 65.1 x
          restart 60.5
          ap      0 .`,
    statuses: 'up@0 down@65.1',
  },
  {
    title: 'a restart during a disagreement keeps the second opinion',
    run: `us      0 .  60 x 60.5 .[o,p=p2] 61 x 64 x
          restart 62`,
    statuses: 'up@0',
    disagreements: 'us@64',
  },
  {
    title: 'a restart without a majority does not restart the interval',
    run: `us      0 x 1 x 4 x  60 . 65 .  124.9 .  126 .
          eu      0 x 1 x 5 x  60 x 120 x
          ap      0 .  60 .  120 .
          restart 100`,
    statuses: 'down@5 degraded@126',
  },
  {
    title: 'results read again from the stored position after a restart are history',
    run: `us      0 .  60 x[s=60] 61 x[s=60,a=2]
          restart 62
          us      63 x[s=60] 63.1 x[s=60,a=2] 63.2 x[s=60] 70 .`,
    statuses: 'up@0',
    ignored: 3,
  },
  {
    title: 'a hand-over between probes during a streak with retry_count 5 continues the streak',
    policy: { retryCount: 5 },
    run: 'us 0 . 60 x 61 x 64 x 75 x[e=2,p=p2] 76 x[e=2,p=p2] 76.5 x[e=1] 79 x[e=2,p=p2]',
    statuses: 'up@0 down@79',
    ignored: 1,
  },
  {
    title: 'a hand-over while failing: the new probe needs two successes as well',
    run: 'us 0 x 1 x 4 x 60 . 75 .[e=2,p=p2]',
    statuses: 'down@4 up@75',
  },
  {
    title: '30 s interval, 30 s timeout, retry_count 5: a black hole everywhere is down without a degraded in between',
    policy: { intervalMs: 30_000, timeoutMs: 30_000, retryCount: 5 },
    run: `us  0 .  60 x[s=30] 91 x[s=30,a=2] 124 x[s=30,a=3] 159 x[s=30,a=4] 194 x[s=30,a=5] 229 x[s=30,a=6]
          eu  1 .  90 x[s=60] 121 x[s=60,a=2] 154 x[s=60,a=3] 189 x[s=60,a=4] 224 x[s=60,a=5] 259 x[s=60,a=6]
          ap  2 .  90 x[s=60] 121 x[s=60,a=2] 154 x[s=60,a=3] 189 x[s=60,a=4] 224 x[s=60,a=5] 260 x[s=60,a=6]`,
    statuses: 'up@1 down@259',
  },
  {
    title:
      '30 s interval, 30 s timeout, retry_count 5: a region in a black hole alone is degraded at its sixth failure',
    policy: { intervalMs: 30_000, timeoutMs: 30_000, retryCount: 5 },
    run: `us  0 .  60 x[s=30] 91 x[s=30,a=2] 124 x[s=30,a=3] 159 x[s=30,a=4] 194 x[s=30,a=5] 229 x[s=30,a=6]
          eu  1..241/30 .
          ap  2..242/30 .`,
    statuses: 'up@1 degraded@229',
  },
  {
    title: 'two regions of which one vanishes: nothing changes while the other is up',
    run: `us  0..1200/60 .
          eu  0..120/60 .`,
    statuses: 'up@0',
  },
  {
    title: 'two regions of which the failing one vanishes: degraded until reduced quorum finds it up',
    run: `us  0 .  60 .  120..900/60 .
          eu  0 .  60.5 x 61.5 x 64.5 x`,
    statuses: 'up@0 degraded@120 up@600(reduced)',
  },
  {
    title: 'a region that vanishes while down keeps the monitor down until more than half vote again',
    run: `us  0 x 1 x 4 x   300 . 305 .  400 .
          eu  0 x 1 x 5 x   450 . 455 .
          ap  0 .`,
    statuses: 'down@5 up@455',
  },
  {
    title: 'a probe that restarts changes nothing: missed and unknown results do not count',
    run: `us  0 .  60 -  61 ?  120 ?  180 .
          eu  0 .  60 .  120 .  180 .`,
    statuses: 'up@0',
    asks: '',
  },
  {
    title: 'a recovery always follows down or degraded',
    run: `us  0 .  60 x 61 x 62 .  120 x 121 x 122 .
          eu  0 .  60 x 61 x 62 .  120 x 121 x 122 .`,
    statuses: 'up@0',
  },
  {
    title: 'heartbeats: one voter, thresholds of 1, no expiry',
    policy: { retryCount: 0, expires: false },
    run: 'us 0 . 3000000 x 6000000 .',
    statuses: 'up@0 down@3000000 up@6000000',
  },
  {
    title: 'a child of a data source: degraded at once, from up and from down',
    policy: { retryCount: 0, expires: false },
    run: 'us 0 . 60 ~ 120 x 180 ~ 240 ~ 300 x 360 .',
    statuses: 'up@0 degraded@60 down@120 degraded@180 down@300 up@360',
  },
])

t.test('two owners of a partition for ten seconds lead to one outage, whichever takes over', async t => {
  const outcomes = [...'.xx.xxxx..x'].map(sign => (sign === 'x' ? Outcome.DOWN : Outcome.UP))
  const results = outcomes.map((outcome, i) => ({ ...failing(i, 1), outcome }))
  const read = (state: MonitorState, from: number, to: number, tolerance = DEFAULT_TOLERANCE) => {
    const changes: string[] = []
    for (const result of results.slice(from, to)) {
      const decision = decide(state, result, buildPolicy(), result.scheduledAtMs, tolerance)
      state = decision.state
      if (decision.transition) changes.push(`${decision.transition.to}@${decision.transition.atMs - START_MS}`)
    }
    return { state, changes }
  }
  for (let takenOverAt = 0; takenOverAt < results.length; takenOverAt++) {
    for (let readAgain = 0; readAgain <= takenOverAt; readAgain++) {
      const former = read(createMonitorState('m-1', 1), 0, takenOverAt)
      const stored = restoreState(asStored(former.state), null)
      const next = read(stored, takenOverAt - readAgain, results.length, REPLAY_TOLERANCE)
      t.same([...former.changes, ...next.changes], ['up@0', 'down@6000', 'up@9000'])
    }
  }
})

t.test(
  'a monitor that is paused while down and resumed starts at null, and its first up sends no recovery',
  async t => {
    const policy = buildPolicy({ configVersion: 2 })
    const down = play({ title: '', statuses: '', run: 'us 0 x 1 x 4 x' }, 1, state => state)
    t.equal(down.state.status, 'down')
    const resumed = createMonitorState('m-1', 2)
    const late = decide(resumed, failing(100, 1), policy, START_MS + 100_000)
    t.equal(late.kind, 'history')
    t.equal(late.reason, 'older_config')
    t.equal(late.state, resumed)
    const first = decide(late.state, { ...failing(110, 2), outcome: Outcome.UP }, policy, START_MS + 110_000)
    t.match(first.transition, { from: null, to: 'up', downSinceMs: null, downDurationMs: null })
  },
)

t.test('the first success of a failing region is stored even if nothing else changes', async t => {
  const run = `us      0 x 1 x 4 x  60 x[c=2]  120 .[c=2] 125 x[c=2]
               policy  50 c=2`
  const { state } = play({ title: '', statuses: '', run }, 1, kept => kept)
  const policy = buildPolicy({ configVersion: 3 })
  const success = { ...failing(130, 3), outcome: Outcome.UP }
  const adopted = decide(state, { ...success, outcome: Outcome.UNKNOWN }, policy, START_MS + 130_000)
  t.equal(adopted.store, 'at_once', 'a new configuration is stored')
  const first = decide(adopted.state, { ...success, attempt: 2 }, policy, START_MS + 131_000)
  t.match(first, { store: 'soon', ask: null, state: { cells: [{ failures: 0, notUp: 0, better: 1 }] } })
})

t.test('an outage keeps its start through degraded and down again, and its end contains its duration', async t => {
  const run = 'us 0 x 1 x 4 x 60 ~ 65 ~ 120 ~ 125 ~ 180 ~ 200 x 201 x 204 x'
  const { state } = play({ title: '', statuses: '', run }, 1, kept => kept)
  t.match(state, { status: 'down', statusSinceMs: START_MS + 204_000, outageSinceMs: START_MS + 4000 })
  const up = (second: number) => ({ ...failing(second, 1), outcome: Outcome.UP })
  const policy = buildPolicy()
  const first = decide(state, up(240), policy, START_MS + 240_000)
  const last = decide(first.state, up(245), policy, START_MS + 245_000)
  t.match(last.transition, { to: 'up', downSinceMs: START_MS + 4000, downDurationMs: 241_000 })
  t.equal(last.state.outageSinceMs, null)
})

t.test('up after degraded has no down duration', async t => {
  const { state } = play({ title: '', statuses: '', run: 'us 0 ~ 1 ~ 2 ~ 60 .' }, 1, kept => kept)
  const last = decide(state, { ...failing(65, 1), outcome: Outcome.UP }, buildPolicy(), START_MS + 65_000)
  t.match(last.transition, { from: 'degraded', to: 'up', downSinceMs: null, downDurationMs: null })
})

function failing(second: number, configVersion: number) {
  const scheduledAtMs = START_MS + second * 1000
  return buildResult({ region: 'us-east', scheduledAtMs, configVersion, outcome: Outcome.DOWN })
}
