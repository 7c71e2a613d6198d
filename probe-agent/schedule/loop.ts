import type { Assignments } from '../../proto/gen/probe/v1/fleet.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { type Result, Trigger } from '../../shared/checks/result.ts'
import { machine } from '../clock.ts'
import type { AssignedMonitor } from './assigned-monitors.ts'
import { createCheckPermits } from './check-permits.ts'
import { findNextSlot } from './check-times.ts'
import { startDueChecks } from './due-checks.ts'
import { type CheckLoopOptions, type CheckLoopState, getSubject, setDue, startCheck } from './loop-state.ts'
import { createFairQueue } from './queue/fair-queue.ts'
import { createWakeUpTimer } from './queue/wake-up-timer.ts'
import {
  abandonChain,
  enqueue,
  joinChain,
  removeFromQueue,
  shiftDueTime,
  startChain,
  startRequestedChain,
} from './queued-monitors.ts'
import { type CheckRequest, createRecheckAttempts } from './rechecks/attempts.ts'

export type CheckLoop = {
  apply: (message: Assignments) => void
  setEpoch: (epoch: number) => void
  /**
   * Starts a chain outside the schedule. The monitor must not have an undecided chain. `requestedMs`: the scheduled time to
   * report, unless it is in the future or before a reported one.
   */
  startChain: (monitor: AssignedMonitor, trigger: Trigger, runId: string, requestedMs: number) => void
  /**
   * Adds a request to the monitor's chain, which has not ended. The first attempt that starts after it answers it. If the
   * chain starts none, a new chain follows. False: too many requests wait.
   */
  joinChain: (monitor: AssignedMonitor, trigger: Trigger, runId: string) => boolean
  /** Runs one attempt for a request with a spec of its own; only `take` receives the result. False: no permit is available. */
  checkOutOfBand: (spec: CheckSpec, asked: CheckRequest, tenant: number, take: (result: Result) => void) => boolean
  /** the assignment epoch of results */
  epoch: () => number
  /** Refuses checks on demand from now on; slots continue. */
  stopOnDemandChecks: () => void
  /** true after `stopOnDemandChecks` or `drain` */
  isLeaving: () => boolean
  /** A new sample of the control plane's clock changed its offset by `movedMs`. */
  clockLearned: (movedMs: number) => void
  /** Starts no more checks; resolves when the last one has ended. */
  drain: () => Promise<void>
  /** `loopLagMs` and `startDelayMs`: the maximum delays of a timer and of a slot since the previous call. */
  load: () => { running: number; waiting: number; loopLagMs: number; startDelayMs: number }
}

/** A larger change means that the control plane's clock was set; a smaller one is a better sample. */
const CLOCK_STEP_MS = 1000

/** Starts checks when they are due, with one timer for all monitors, and re-checks (docs/design/probes.md#schedule). */
export function createCheckLoop(options: CheckLoopOptions): CheckLoop {
  const loop = createLoopState(options)
  return {
    startChain: (monitor, trigger, runId, requestedMs) => startChain(loop, monitor, trigger, runId, requestedMs),
    joinChain: (monitor, trigger, runId) => joinChain(loop, monitor, trigger, runId),
    checkOutOfBand: (spec, asked, tenant, take) => checkOutOfBand(loop, spec, asked, tenant, take),
    epoch: () => loop.epoch,
    stopOnDemandChecks() {
      loop.isLeaving = true
    },
    isLeaving: () => loop.isLeaving,
    apply: message => applyAssignments(loop, message),
    setEpoch(newEpoch) {
      // results under the previous epoch may not have counted
      if (newEpoch !== loop.epoch) loop.monitors.discardAllConclusions()
      loop.epoch = newEpoch
    },
    clockLearned: movedMs => followClock(loop, movedMs),
    drain: () => drain(loop),
    load: () => takeLoad(loop),
  }
}

function createLoopState(options: CheckLoopOptions): CheckLoopState {
  const { monitors, clock, run, publish, answer, onChainEnd, onSilent = () => {}, log, timers = machine } = options
  const queue = createFairQueue<AssignedMonitor>()
  const loop: CheckLoopState = {
    ...{ monitors, clock, run, publish, answer, log, timers, queue },
    permits: createCheckPermits(options.maxConcurrentChecks),
    wakeUpTimer: createWakeUpTimer(timers, queue, () => startDueChecks(loop)),
    attempts: createRecheckAttempts({
      ...{ timers, publish, answer, onSilent, onChainEnd },
      check: (permit, spec, asked, take) => startCheck(loop, permit, spec, asked, take),
      getSubject: monitor => getSubject(loop, monitor),
      mayStartRequestedChain: () => !loop.isLeaving,
      startRequestedChain: (monitor, requests) => startRequestedChain(loop, monitor, requests),
      wakeIn: (monitor, ms) => setDueIn(loop, monitor, ms),
      wakeAtSlot: (monitor, latestMs) => setDueAtSlot(loop, monitor, latestMs),
    }),
    epoch: 0,
    isLeaving: false,
    isDraining: false,
    hasTime: false,
    startDelayMs: 0,
    whenIdle() {},
  }
  return loop
}

/** Makes a monitor due after `ms`; null: not before one of its attempts has ended. */
function setDueIn(loop: CheckLoopState, monitor: AssignedMonitor, ms: number | null): void {
  if (ms === null) loop.queue.remove(monitor)
  else setDue(loop, monitor, (loop.clock.nowMs() ?? 0) + Math.max(0, ms))
}

/** Makes a monitor due at its next slot, or after `latestMs` if that is earlier. */
function setDueAtSlot(loop: CheckLoopState, monitor: AssignedMonitor, latestMs = Number.POSITIVE_INFINITY): void {
  const now = loop.clock.nowMs() ?? 0
  setDue(loop, monitor, Math.min(findNextSlot(monitor, now), now + latestMs))
}

function checkOutOfBand(
  loop: CheckLoopState,
  spec: CheckSpec,
  asked: CheckRequest,
  tenant: number,
  take: (result: Result) => void,
): boolean {
  const { permits, timers, queue } = loop
  const permit = loop.isLeaving ? 'full' : permits.acquire(timers.monotonicMs(), tenant, queue.isSharedWith(tenant))
  if (typeof permit === 'string') return false
  startCheck(loop, permit, spec, asked, take)
  return true
}

function applyAssignments(loop: CheckLoopState, message: Assignments): void {
  const { added, retired, replaced, toCheckNow } = loop.monitors.apply(message)
  for (const monitor of added) loop.queue.join(monitor.tenant)
  for (const monitor of retired) {
    removeFromQueue(loop, monitor, 'not_assigned', 'the monitor was changed or moved to another probe')
    loop.queue.leave(monitor.tenant)
  }
  const now = loop.clock.nowMs()
  if (now === null || loop.isDraining) return
  for (const monitor of replaced) abandonChain(loop, monitor)
  for (const monitor of added) enqueue(loop, monitor, now)
  for (const monitor of toCheckNow) if (!monitor.chain) startChain(loop, monitor, Trigger.SLOT, '', now)
}

/** Follows a new sample of the control plane's clock. The first one queues the monitors that are already assigned. */
function followClock(loop: CheckLoopState, movedMs: number): void {
  const { monitors, log } = loop
  const now = loop.clock.nowMs()
  if (now === null || loop.isDraining) return
  if (Math.abs(movedMs) > CLOCK_STEP_MS) {
    log.warn({ event: 'clock_step', seconds: Math.round(movedMs) / 1000 }, 'the clock of the control plane was set')
    monitors.discardAllConclusions()
    for (const monitor of monitors.all()) shiftDueTime(loop, monitor, movedMs, now)
  }
  startDueChecks(loop)
  if (loop.hasTime) return
  loop.hasTime = true
  for (const monitor of monitors.all()) if (monitor.heapIndex < 0 && !monitor.chain) enqueue(loop, monitor, now)
}

function drain(loop: CheckLoopState): Promise<void> {
  loop.isLeaving = true
  loop.isDraining = true
  loop.wakeUpTimer.stop()
  for (const monitor of loop.monitors.all()) removeFromQueue(loop, monitor, 'probe_busy', 'the probe is stopping')
  return new Promise(resolve => {
    loop.whenIdle = resolve
    if (loop.permits.countHeld() === 0) resolve()
  })
}

/** Returns the load, and resets its maximum delays. */
function takeLoad(loop: CheckLoopState): ReturnType<CheckLoop['load']> {
  const { wakeUpTimer, permits, clock } = loop
  const waiting = wakeUpTimer.countWaiting(clock.nowMs() ?? 0)
  const delays = { loopLagMs: wakeUpTimer.takeLagMs(), startDelayMs: Math.round(loop.startDelayMs) }
  loop.startDelayMs = 0
  return { running: permits.countHeld(), waiting, ...delays }
}
