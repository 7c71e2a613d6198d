import t from 'tap'
import {
  computeDetectionLimits,
  computeTransitionInDoubtMs,
  FAILURE_MODES,
  type FailureMode,
} from '../../../../control-plane/monitoring/monitors/settings/guarantee.ts'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { Policy } from '../../../../control-plane/verdict/core/types.ts'
import type { CheckExecution, CheckRunOptions } from '../../../../probe-agent/execution/run-check.ts'
import { createAssignedMonitors } from '../../../../probe-agent/schedule/assigned-monitors.ts'
import { createCheckLoop } from '../../../../probe-agent/schedule/loop.ts'
import { Outcome } from '../../../../shared/checks/result.ts'
import { computeSlots, findSlotFrom } from '../../../../shared/checks/slots.ts'
import { createLog } from '../../../../shared/process/log.ts'
import { assignment, checkSpec } from '../../../support/fleet-server.ts'
import { createVirtualTime, type VirtualTime } from '../../../support/virtual-time.ts'

const EPOCH_MS = Date.UTC(2026, 7, 1)
const REGIONS = ['us-east', 'eu-west', 'ap-southeast', 'us-west', 'ap-northeast', 'eu-central']
const QUICK_MS = 40

type Setting = { intervalS: number; timeoutMs: number; retryCount: number; regions: number }
const SETTINGS: Setting[] = [
  { intervalS: 30, timeoutMs: 10_000, retryCount: 2, regions: 1 },
  { intervalS: 30, timeoutMs: 10_000, retryCount: 2, regions: 3 },
  { intervalS: 60, timeoutMs: 30_000, retryCount: 2, regions: 1 },
  { intervalS: 60, timeoutMs: 30_000, retryCount: 2, regions: 6 },
  { intervalS: 30, timeoutMs: 30_000, retryCount: 5, regions: 2 },
  { intervalS: 60, timeoutMs: 5_000, retryCount: 0, regions: 1 },
]

/** The answer of the target at a time: its outcome, and its delay in ms. */
type Answer = { outcome: Outcome; afterMs: number }
type Target = (atMs: number) => Answer

/** A target that begins to fail at a given time. */
function failingFrom(kind: FailureMode, brokenMs: number, timeoutMs: number): Target {
  const slowMs = timeoutMs * 0.98
  const success = { outcome: Outcome.UP, afterMs: kind === 'slow' ? slowMs : QUICK_MS }
  const failures: Record<FailureMode, Answer> = {
    refused: { outcome: Outcome.DOWN, afterMs: 1 },
    wrong: { outcome: Outcome.DOWN, afterMs: QUICK_MS },
    slow: { outcome: Outcome.DOWN, afterMs: slowMs },
    hanging: { outcome: Outcome.DOWN, afterMs: timeoutMs },
  }
  return atMs => (atMs < brokenMs ? success : failures[kind])
}

/** The probe's loop in one region, with the checks of a simulated target. */
function startRegion(
  region: string,
  monitorId: string,
  setting: Setting,
  time: VirtualTime,
  target: Target,
  isInDoubt: boolean,
) {
  const published: { region: string; atMs: number; result: Parameters<typeof decide>[1] }[] = []
  const run = (_: unknown, { cancellation }: CheckRunOptions) =>
    new Promise<CheckExecution>(resolve => {
      const { outcome, afterMs } = target(time.monotonicMs())
      const end = (outcome: Outcome) => {
        const observation = { error: null, timings: undefined, totalUs: afterMs * 1000, statusCode: 200 }
        const isDoubted = isInDoubt && outcome === Outcome.DOWN
        resolve({ observation, outcome, failedAssertions: [], isDoubted } as unknown as CheckExecution)
      }
      const stop = time.after(afterMs, () => end(outcome))
      cancellation!.onCancel = () => {
        stop()
        end(Outcome.UNKNOWN)
      }
    })
  const loop = createCheckLoop({
    monitors: createAssignedMonitors(region),
    clock: { learn: () => 0, nowMs: () => EPOCH_MS + time.monotonicMs() },
    run,
    publish(result) {
      const { configVersion, epoch, scheduledAtMs, attempt, outcome, trigger } = result
      const counted = { configVersion, epoch, scheduledAtMs, attempt, outcome, trigger, statusCode: 0 }
      const atMs = time.monotonicMs()
      const doubt = result.doubted ? { isDoubted: true as const } : {}
      published.push({
        region,
        atMs,
        result: { ...counted, region, probeId: region, responseTimeMs: 0, error: null, ...doubt },
      })
    },
    answer() {},
    maxConcurrentChecks: 10,
    log: createLog('test', 'silent'),
    timers: time,
  })
  const { intervalS, retryCount, timeoutMs } = setting
  const spec = { ...checkSpec('http://127.0.0.1'), timeoutMs }
  const upserts = [assignment(monitorId, spec, { intervalS, retryCount, checkAtOnce: true })]
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  return published
}

/** Slots this close together, as a share of the interval, are at the same time. */
const CLOSE = 0.01

/**
 * Finds a monitor whose last slots of a turn are as close together as those of any monitor can be. Without these regions
 * the others lack a majority, so an outage that begins after their slots is found as late as possible.
 */
function findSlowestMonitor(trial: number, regions: readonly string[], intervalS: number) {
  const last = regions.slice(0, Math.ceil(regions.length / 2))
  for (let n = 0; ; n++) {
    const monitorId = `monitor-${trial}-${n}`
    const [first, ...others] = last.map(region => computeSlots(monitorId, region, intervalS))
    const { phaseMs, intervalMs } = first!
    const laterMs = others.map(slots => findSlotFrom(slots, phaseMs) - phaseMs)
    if (laterMs.every(ms => ms <= CLOSE * intervalMs))
      return { monitorId, first: first!, spanMs: Math.max(0, ...laterMs) }
  }
}

/** Returns the ms from the beginning of the failure to `down`, null when it was not noticed. */
async function detectionMs(
  kind: FailureMode,
  setting: Setting,
  trial: number,
  isInDoubt: boolean,
): Promise<number | null> {
  const { intervalS, timeoutMs, retryCount } = setting
  const intervalMs = intervalS * 1000
  const regions = REGIONS.slice(0, setting.regions)
  const { monitorId, first, spanMs } = findSlowestMonitor(trial, regions, intervalS)
  const settledMs = 4 * intervalMs
  // every other time just after the successful checks of these regions, which is the worst case
  const justAfterMs = findSlotFrom(first, EPOCH_MS + settledMs) - EPOCH_MS + spanMs + 5
  const brokenMs = trial % 2 === 0 ? justAfterMs : settledMs + ((trial * 7_919) % intervalMs)

  const time = createVirtualTime()
  const target = failingFrom(kind, brokenMs, timeoutMs)
  const published = regions.map(region => startRegion(region, monitorId, setting, time, target, isInDoubt))
  await time.pass(brokenMs + 3 * intervalMs + (retryCount + 2) * (timeoutMs + 6_000))

  const policy: Policy = {
    configVersion: 1,
    streaksSince: 1,
    regions,
    retryCount,
    intervalMs,
    timeoutMs,
    expires: true,
  }
  let state = createMonitorState(monitorId, 1)
  for (const { atMs, result } of published.flat().sort((a, b) => a.atMs - b.atMs)) {
    const decision = decide(state, result, policy, EPOCH_MS + atMs)
    state = decision.state
    if (decision.transition?.to === 'down') return atMs - brokenMs
  }
  return null
}

const TRIALS = 8

for (const setting of SETTINGS) {
  const { intervalS, timeoutMs, retryCount, regions } = setting
  const limits = computeDetectionLimits({ intervalMs: intervalS * 1000, timeoutMs, retryCount })
  for (const kind of FAILURE_MODES) {
    t.test(
      `${kind}, ${intervalS} s, timeout ${timeoutMs / 1000} s, ${retryCount} re-checks, ${regions} regions: down in time`,
      async t => {
        const { transitionMs } = limits.find(one => one.kind === kind)!
        const taken: number[] = []
        for (let trial = 0; trial < TRIALS; trial++) {
          const ms = await detectionMs(kind, setting, trial, false)
          t.ok(ms !== null && ms <= transitionMs, `${ms} ms, guaranteed ${transitionMs}`)
          taken.push(ms ?? 0)
        }
        t.ok(Math.max(...taken) >= 0.8 * transitionMs, `the worst, ${Math.max(...taken)} ms, is near the limit`)
      },
    )
  }
  for (const kind of ['refused', 'hanging'] as const) {
    t.test(
      `${kind} in a region in doubt, ${intervalS} s, timeout ${timeoutMs / 1000} s, ${regions} regions: down in time`,
      async t => {
        const limitMs = computeTransitionInDoubtMs(
          kind,
          { intervalMs: intervalS * 1000, timeoutMs, retryCount },
          regions,
        )
        const taken: number[] = []
        for (let trial = 0; trial < TRIALS; trial++) {
          const ms = await detectionMs(kind, setting, trial, true)
          t.ok(ms !== null && ms <= limitMs, `${ms} ms, guaranteed ${limitMs}`)
          taken.push(ms ?? 0)
        }
        t.ok(
          Math.max(...taken) >= 0.8 * limitMs,
          `the worst, ${Math.max(...taken)} ms, is near the limit of ${limitMs}`,
        )
      },
    )
  }
}
