import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { CheckExecution } from '../../../probe-agent/execution/run-check.ts'
import { createAssignedMonitors } from '../../../probe-agent/schedule/assigned-monitors.ts'
import { createCheckLoop } from '../../../probe-agent/schedule/loop.ts'
import { Outcome, type Result } from '../../../proto/gen/probe/v1/result.ts'
import { createLog } from '../../../shared/process/log.ts'
import { createRemoteClock } from '../../../shared/process/remote-clock.ts'
import { assignment, checkSpec } from '../../support/fleet-server.ts'

const INTERVAL_S = 30
const MONITORS = 20
const TRUE_MS = Date.UTC(2026, 7, 1)
const MINUTE_MS = 60_000

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
const SUCCESS = { observation, outcome: Outcome.UP, failedAssertions: [], evidence: undefined, certificate: undefined }

/** Runs the checks of 20 monitors, one second at a time, with a control plane's clock that is `aheadMs(second)` ahead. */
async function runFor(seconds: number, aheadMs: (second: number) => number) {
  let monotonicMs = 0
  const clock = createRemoteClock(() => monotonicMs)
  const published: (Result & { atSecond: number })[] = []
  const monitors = createAssignedMonitors('eu-west')
  const loop = createCheckLoop({
    monitors,
    clock,
    run: async () => SUCCESS as unknown as CheckExecution,
    publish: result => published.push({ ...result, atSecond: monotonicMs / 1000 }),
    answer() {},
    maxConcurrentChecks: 100,
    log: createLog('test', 'silent'),
  })
  const upserts = Array.from({ length: MONITORS }, (_, i) =>
    assignment(`m${i}`, checkSpec('http://127.0.0.1'), { intervalS: INTERVAL_S }),
  )
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  for (let second = 0; second <= seconds; second++) {
    monotonicMs = second * 1000
    loop.clockLearned(clock.learn(monotonicMs, monotonicMs, TRUE_MS + monotonicMs + aheadMs(second)))
    for (let turns = 0; turns < 4; turns++) await turn()
  }
  await loop.drain()
  return published
}

/** The longest and the shortest time between two checks of a monitor, in seconds. */
function measureGaps(published: readonly { monitorId: string; atSecond: number }[], seconds: number) {
  const gaps = Array.from({ length: MONITORS }, (_, i) => {
    const at = published.filter(({ monitorId }) => monitorId === `m${i}`).map(({ atSecond }) => atSecond)
    return [...at, seconds].map((second, k) => second - (at[k - 1] ?? 0))
  })
  return { longest: Math.max(...gaps.flat()), checks: published.length }
}

for (const stepMs of [1_500, MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS].flatMap(ms => [ms, -ms])) {
  const by = `${stepMs > 0 ? '+' : ''}${stepMs / 1000} s`
  t.test(`a fleet's clock that is set by ${by}, and right again later, leaves no monitor unchecked`, async t => {
    const seconds = 300
    const published = await runFor(seconds, second => (second >= 95 && second < 200 ? stepMs : 0))
    const { longest, checks } = measureGaps(published, seconds)
    t.ok(longest <= INTERVAL_S + 1, `at most ${longest} s without a check`)
    const planned = (MONITORS * seconds) / INTERVAL_S
    t.ok(checks <= planned + 2 * MONITORS, `${checks} checks, ${planned} without a step: at most one more a step`)
    t.ok(
      published.every(({ outcome }) => outcome === Outcome.UP),
      'no slot is reported as missed',
    )
    const isOff = ({ atSecond, scheduledAtMs }: (typeof published)[number]) => {
      const aheadMs = atSecond >= 95 && atSecond < 200 ? stepMs : 0
      return Math.abs(scheduledAtMs - (TRUE_MS + atSecond * 1000 + aheadMs)) > 1_000
    }
    t.same(published.filter(isOff), [], 'each is scheduled by the clock of its time')
  })
}
