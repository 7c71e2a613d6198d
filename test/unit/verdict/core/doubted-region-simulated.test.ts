import t from 'tap'
import { computeTransitionInDoubtMs } from '../../../../control-plane/monitoring/monitors/settings/guarantee.ts'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, Policy, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { createDoubtDetector } from '../../../../probe-agent/execution/own-faults/doubt.ts'
import type { CheckExecution, CheckRunOptions } from '../../../../probe-agent/execution/run-check.ts'
import { createAssignedMonitors } from '../../../../probe-agent/schedule/assigned-monitors.ts'
import { createCheckLoop } from '../../../../probe-agent/schedule/loop.ts'
import { Outcome, Trigger } from '../../../../shared/checks/result.ts'
import { createLog } from '../../../../shared/process/log.ts'
import { assignment, checkSpec } from '../../../support/fleet-server.ts'
import { createVirtualTime } from '../../../support/virtual-time.ts'

const EPOCH_MS = Date.UTC(2026, 7, 1)
const MONITORS = 96
const INTERVAL_S = 30
const TIMEOUT_MS = 10_000
const QUICK_MS = 40
const FAULT_MS = 12 * 60_000
const MINUTE_MS = 60_000

/**
 * What the network of the probe does to the checks of a host at a moment of the fault. `failsAfterMs`: until the
 * failure.
 */
type Fault = { seconds: number; share: number; failsAfterMs: number }

type Scene = {
  fault: Fault
  isDoubting: boolean
  hasWitness: boolean
  retries: number
  dead?: readonly number[]
  /** the status with which failed hosts answer a witness; 0: no answer */
  deadStatus?: number
}

/** Which monitors of one region, with a host each, go down, and when, in ms from the beginning of the fault. */
async function simulateDowns(scene: Scene): Promise<Map<number, number>> {
  const { fault, isDoubting, hasWitness, retries, dead = [], deadStatus = 0 } = scene
  const time = createVirtualTime()
  const doubt = createDoubtDetector()
  const isLost = (host: number) => {
    const atMs = time.monotonicMs() - FAULT_MS
    if (atMs < 0 || atMs >= fault.seconds * 1_000) return false
    return (host * 37) % 100 < fault.share * 100
  }
  const isDead = (host: number) => dead.includes(host) && time.monotonicMs() >= FAULT_MS
  const run = (spec: { url: string }, { cancellation }: CheckRunOptions) =>
    new Promise<CheckExecution>(resolve => {
      const host = Number(new URL(spec.url).port)
      const isFailing = isLost(host) || isDead(host)
      const end = (outcome: Outcome) => {
        const nowUs = time.monotonicMs() * 1_000
        const isSeen = outcome !== Outcome.UNKNOWN
        if (isSeen && isFailing) doubt.recordFailure(`${host}`, `${host}`, nowUs)
        else if (isSeen) doubt.recordAnswer(`${host}`, `${host}`, nowUs)
        const isDoubted = isDoubting && outcome === Outcome.DOWN && doubt.isDoubting(nowUs)
        const observation = { error: null, timings: undefined, totalUs: 0, statusCode: isFailing ? null : 200 }
        resolve({ observation, outcome, failedAssertions: [], isDoubted } as unknown as CheckExecution)
      }
      const stop = time.after(isFailing ? fault.failsAfterMs : QUICK_MS, () =>
        end(isFailing ? Outcome.DOWN : Outcome.UP),
      )
      cancellation!.onCancel = () => {
        stop()
        end(Outcome.UNKNOWN)
      }
    })

  const policy: Policy = {
    ...{ configVersion: 1, streaksSince: 1, regions: ['us-east'], retryCount: retries, expires: true },
    ...{ intervalMs: INTERVAL_S * 1_000, timeoutMs: TIMEOUT_MS, witness: hasWitness },
  }
  const states = new Map<string, MonitorState>()
  const downs = new Map<number, number>()
  const parseHost = (monitorId: string) => Number(monitorId.slice(1))
  function take(monitorId: string, result: VerdictResult): void {
    const atMs = time.monotonicMs()
    const decision = decide(states.get(monitorId) ?? createMonitorState(monitorId, 1), result, policy, EPOCH_MS + atMs)
    states.set(monitorId, decision.state)
    if (decision.transition?.to === 'down') downs.set(parseHost(monitorId), atMs - FAULT_MS)
    if (!decision.ask?.witness) return
    const seen = isDead(parseHost(monitorId))
      ? { outcome: Outcome.DOWN, statusCode: deadStatus }
      : { outcome: Outcome.UP, statusCode: 200 }
    const check = { ...result, ...seen, region: 'eu-west', probeId: 'w', trigger: Trigger.WITNESS, attempt: 1 }
    const { isDoubted: _, ...sure } = { ...check, scheduledAtMs: EPOCH_MS + atMs }
    time.after(1_000, () => take(monitorId, sure))
  }
  const loop = createCheckLoop({
    monitors: createAssignedMonitors('us-east'),
    clock: { learn: () => 0, nowMs: () => EPOCH_MS + time.monotonicMs() },
    run,
    publish({ monitorId, configVersion, epoch, scheduledAtMs, attempt, outcome, trigger, doubted }) {
      const place = { region: 'us-east', probeId: 'p', configVersion, epoch, scheduledAtMs, attempt, outcome, trigger }
      take(monitorId, { ...place, statusCode: 0, responseTimeMs: 0, error: null, ...(doubted && { isDoubted: true }) })
    },
    answer() {},
    maxConcurrentChecks: 1_000,
    log: createLog('test', 'silent'),
    timers: time,
  })
  const upserts = Array.from({ length: MONITORS }, (_, i) => {
    const spec = { ...checkSpec(`http://127.0.0.1:${i + 1}`), timeoutMs: TIMEOUT_MS }
    return assignment(`m${i + 1}`, spec, { intervalS: INTERVAL_S, retryCount: retries, checkAtOnce: false })
  })
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  await time.pass(FAULT_MS + fault.seconds * 1_000 + 3 * MINUTE_MS)
  await loop.drain()
  return downs
}

const REFUSED_MS = 1
const FAULTS: [title: string, fault: Fault, hasDownsAlone: boolean][] = [
  ['all hosts unreachable for 20 s', { seconds: 20, share: 1, failsAfterMs: REFUSED_MS }, false],
  ['60 % of the routes gone for 5 minutes', { seconds: 300, share: 0.6, failsAfterMs: REFUSED_MS }, true],
  ['60 % of the routes silent for 5 minutes', { seconds: 300, share: 0.6, failsAfterMs: TIMEOUT_MS }, true],
  ['88 % of the routes gone for 5 minutes', { seconds: 300, share: 0.88, failsAfterMs: REFUSED_MS }, true],
  ['all connections rejected for 5 minutes', { seconds: 300, share: 1, failsAfterMs: REFUSED_MS }, true],
]

for (const [title, fault, hasDownsAlone] of FAULTS) {
  t.test(`${title}: no monitor of one region is falsely down`, async t => {
    const scene = { fault, isDoubting: true, hasWitness: true, retries: 2 }
    const without = await simulateDowns({ ...scene, isDoubting: false })
    t.ok(without.size > 10, `${without.size} of ${MONITORS} without a doubt`)
    t.equal((await simulateDowns(scene)).size, 0, 'with a witness')
    const alone = await simulateDowns({ ...scene, hasWitness: false })
    t.equal(alone.size > 0, hasDownsAlone, `${alone.size} without a witness`)
  })
}

const PACE = { intervalMs: INTERVAL_S * 1_000, timeoutMs: TIMEOUT_MS, retryCount: 2 }
const DEAD: [title: string, deadStatus: number, withinMs: number][] = [
  [
    'a target that answers the witness with a server error is down when its answer arrives',
    503,
    (INTERVAL_S + 8) * 1_000,
  ],
  [
    'a target that is really down meanwhile is down within the guarantee',
    0,
    computeTransitionInDoubtMs('refused', PACE, 1),
  ],
]

for (const [title, deadStatus, withinMs] of DEAD) {
  t.test(title, async t => {
    const fault = { seconds: 300, share: 0.6, failsAfterMs: REFUSED_MS }
    const dead = [8, 16, 24, 32]
    const downs = await simulateDowns({ fault, isDoubting: true, hasWitness: true, retries: 2, dead, deadStatus })
    t.same(
      [...downs.keys()].sort((a, b) => a - b),
      dead,
    )
    for (const [host, ms] of downs) t.ok(ms <= withinMs, `host ${host} after ${ms} ms`)
  })
}
