import t from 'tap'
import type { CheckExecution } from '../../../probe-agent/execution/run-check.ts'
import { createAssignedMonitors } from '../../../probe-agent/schedule/assigned-monitors.ts'
import { createCheckLoop } from '../../../probe-agent/schedule/loop.ts'
import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import { Outcome, type Result } from '../../../shared/checks/result.ts'
import { createLog } from '../../../shared/process/log.ts'
import { assignment, checkSpec } from '../../support/fleet-server.ts'
import { createVirtualTime } from '../../support/virtual-time.ts'

const START_MS = Date.UTC(2026, 7, 1)
const MONITORS = 3_000
const INTERVAL_S = 30

/** Two minutes of a probe in virtual time: the published results, and the start times of checks. */
async function play(monitors: number, outcome: Outcome) {
  const time = createVirtualTime()
  const published: Result[] = []
  const startsMs = new Set<number>()
  const loop = createCheckLoop({
    monitors: createAssignedMonitors('eu-west'),
    clock: { learn: () => 0, nowMs: () => START_MS + time.monotonicMs() },
    async run() {
      startsMs.add(time.monotonicMs())
      return { observation: { totalUs: 1_000 }, outcome, failedAssertions: [] } as unknown as CheckExecution
    },
    publish: result => published.push(result),
    answer() {},
    maxConcurrentChecks: 1_000,
    log: createLog('test', 'silent'),
    timers: time,
  })
  const options = { intervalS: INTERVAL_S, retryCount: 2, regionState: RegionState.OK }
  const upserts = Array.from({ length: monitors }, (_, i) =>
    assignment(`m${i}`, checkSpec('http://127.0.0.1'), options),
  )
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  loop.clockLearned(0)
  await time.pass(2 * 60_000)
  const { loopLagMs } = loop.load()
  await loop.drain()
  return { published, startsMs, loopLagMs }
}

const latenessMs = ({ startedAtMs, scheduledAtMs }: Result) => startedAtMs - scheduledAtMs

/** Slots of the two minutes; the last one may be delayed beyond the end. */
const DUE = (2 * 60 * MONITORS) / INTERVAL_S

t.test('Checks that are due close together start together, at most 50 ms late', async t => {
  const { published, startsMs, loopLagMs } = await play(MONITORS, Outcome.UP)
  t.ok(published.length <= DUE && published.length > DUE - 10, 'each slot once')
  t.ok(startsMs.size < published.length * 0.3, `${published.length} checks at ${startsMs.size} times`)
  t.ok(Math.max(...published.map(latenessMs)) <= 51, 'timers are whole ms')
  t.equal(loopLagMs, 0, 'what waits for others is not taken for a loop that was held')
})

t.test('With many due checks, groups are small and wait less', async t => {
  const { published, startsMs } = await play(4 * MONITORS, Outcome.UP)
  t.ok(startsMs.size > published.length / 10, `${published.length} checks at ${startsMs.size} times`)
  const late = published.filter(one => latenessMs(one) > 30)
  t.ok(late.length < published.length / 100, `${late.length} of ${published.length} more than 30 ms late`)
})

t.test('A check without others near it starts when it is due', async t => {
  const { published } = await play(3, Outcome.UP)
  t.equal(published.length, 12)
  t.ok(Math.max(...published.map(latenessMs)) <= 1, 'timers are whole ms')
})

t.test('A second attempt is not delayed by other checks', async t => {
  const { published } = await play(MONITORS, Outcome.DOWN)
  const firsts = new Map(
    published.map(one => [`${one.monitorId} ${one.scheduledAtMs} ${one.attempt}`, one.startedAtMs]),
  )
  const seconds = published.filter(({ attempt }) => attempt === 2)
  t.ok(seconds.length > MONITORS / 2)
  const delaysMs = seconds.map(
    ({ monitorId, scheduledAtMs, startedAtMs }) => startedAtMs - firsts.get(`${monitorId} ${scheduledAtMs} 1`)! - 1_000,
  )
  t.ok(delaysMs.every(ms => ms >= 0 && ms <= 51))
})
