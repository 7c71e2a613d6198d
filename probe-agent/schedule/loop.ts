import type { Assignments, CheckSpec } from '../../proto/gen/probe/v1/fleet.ts'
import { type Result, type RunRefusal, Trigger } from '../../shared/checks/result.ts'
import { findSlotFrom } from '../../shared/checks/slots.ts'
import type { Cancellation } from '../../shared/egress/index.ts'
import type { Log } from '../../shared/process/log.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import { machine, type Timers } from '../clock.ts'
import { buildMissedResult, buildRefusedResult, buildResult, type ResultSubject } from '../execution/result-builder.ts'
import type { CheckExecution } from '../execution/run-check.ts'
import type { RecheckChainEnd } from '../screenshots/should-capture.ts'
import { type AssignedMonitor, type AssignedMonitors, createRecheckChain } from './assigned-monitors.ts'
import { type CheckPermit, createCheckPermits } from './check-permits.ts'
import { findNextSlot, resolveChainTime, shiftTimes } from './check-times.ts'
import { createFairQueue } from './fair-queue.ts'
import { type CheckRequest, createRecheckAttempts } from './rechecks/attempts.ts'
import { findMissedSlots } from './slots.ts'
import { createWakeUpTimer } from './wake-up-timer.ts'

type CheckLoopOptions = {
  monitors: AssignedMonitors
  clock: RemoteClock
  /** never rejects */
  run: (spec: CheckSpec, cancellation?: Cancellation, isOfOthers?: boolean) => Promise<CheckExecution>
  publish: (result: Result) => void
  /** sends a result as the answer to the RunNow that began its chain */
  answer: (runId: string, result: Result) => void
  /** called after the last attempt of a chain is published */
  onChainEnd?: (monitor: AssignedMonitor, end: RecheckChainEnd) => void
  /** called when the first attempt of a chain is silent and the region is not failing */
  onSilent?: (monitor: AssignedMonitor) => void
  maxConcurrentChecks: number
  log: Log
  /** default: those of the machine */
  timers?: Timers
}

export type CheckLoop = {
  apply: (message: Assignments) => void
  setEpoch: (epoch: number) => void
  /**
   * Starts a chain outside the schedule. The monitor must not have an undecided chain. `requestedMs`: the scheduled time to
   * report, unless it is in the future or before a reported one.
   */
  startChain: (monitor: AssignedMonitor, trigger: Trigger, runId: string, requestedMs: number) => void
  /** Assigns a request to a chain that has not begun. False: it has begun, or already has a request. */
  joinChain: (monitor: AssignedMonitor, trigger: Trigger, runId: string) => boolean
  /** Runs one attempt without re-checks; only `take` receives the result. False: no permit is available. */
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

/** Starts per turn of the event loop, so that a burst does not distort the timings of running checks. */
const MAX_STARTS_PER_TURN = 25
/** A larger change means that the control plane's clock was set; a smaller one is a better sample. */
const CLOCK_STEP_MS = 1000
/** Missed slots reported for a monitor after a long standstill; the number of older ones is only logged. */
const MAX_MISSED_REPORTED = 20
const NO_REQUESTER = { trigger: Trigger.SLOT, runId: '' }

/** Starts checks when they are due, with one timer for all monitors, and re-checks (docs/design/probes.md#schedule). */
export function createCheckLoop(parts: CheckLoopOptions): CheckLoop {
  const { monitors, clock, run, publish, answer, onChainEnd, onSilent = () => {}, maxConcurrentChecks, log } = parts
  const { timers = machine } = parts
  const queue = createFairQueue<AssignedMonitor>()
  const permits = createCheckPermits(maxConcurrentChecks)
  const wakeUpTimer = createWakeUpTimer(timers, queue, startDueChecks)
  let epoch = 0
  let isLeaving = false
  let isDraining = false
  let hasTime = false
  let startDelayMs = 0
  let whenIdle = () => {}
  const attempts = createRecheckAttempts({
    timers,
    check,
    getSubject,
    publish,
    answer,
    onSilent,
    onChainEnd,
    wakeIn(monitor, ms) {
      if (ms === null) queue.remove(monitor)
      else put(monitor, (clock.nowMs() ?? 0) + Math.max(0, ms))
    },
    wakeAtSlot(monitor, latestMs = Number.POSITIVE_INFINITY) {
      const now = clock.nowMs() ?? 0
      put(monitor, Math.min(findNextSlot(monitor, now), now + latestMs))
    },
  })

  function startDueChecks(): void {
    const now = clock.nowMs()
    if (now === null || isDraining) return
    queue.release()
    for (let starts = 0; starts < MAX_STARTS_PER_TURN; ) {
      const monitor = queue.earliest()
      if (!monitor || monitor.dueMs > now) {
        wakeUpTimer.sleepUntilDue(monitor, now)
        return
      }
      const next = attempts.decideWhenDue(monitor)
      if (next === 'nothing') continue
      if (next === 'begin') reportMissed(monitor, now)
      const permit = permits.acquire(timers.monotonicMs(), monitor.tenant, queue.tenants() > 1)
      if (permit === 'full') {
        wakeUpTimer.sleepUntilPermit()
        return
      }
      if (permit === 'share') {
        queue.holdBack(monitor.tenant)
        continue
      }
      queue.remove(monitor)
      wakeUpTimer.noteStart(now)
      startAttempt(monitor, permit)
      starts++
    }
    wakeUpTimer.wakeNextTurn()
  }

  function put(monitor: AssignedMonitor, dueMs: number): void {
    wakeUpTimer.put(monitor, dueMs, clock.nowMs())
  }

  function reportMissed(monitor: AssignedMonitor, now: number): void {
    const { missed, next } = findMissedSlots(monitor.slots, monitor.dueMs, now)
    if (missed.length === 0) return
    const subject = getSubject(monitor)
    if (missed.length > MAX_MISSED_REPORTED)
      log.warn({ monitor_id: subject.monitorId, slots: missed.length }, 'missed slots')
    for (const slot of missed.slice(-MAX_MISSED_REPORTED)) publish(buildMissedResult(subject, slot, now))
    queue.put(monitor, next)
  }

  function startAttempt(monitor: AssignedMonitor, permit: CheckPermit): void {
    const chain = monitor.chain ?? createRecheckChain(monitor, timers.monotonicMs(), monitor.dueMs, Trigger.SLOT, '')
    monitor.chain = chain
    monitor.lastScheduledMs = chain.scheduledAtMs
    if (chain.attempts.length === 0) startDelayMs = Math.max(startDelayMs, (clock.nowMs() ?? 0) - chain.scheduledAtMs)
    attempts.start(monitor, chain, permit)
  }

  /** Runs a check, releases its permit and passes the result to `take`. */
  function check(permit: CheckPermit, spec: CheckSpec, asked: CheckRequest, take: (result: Result) => void): void {
    const { subject, occasion, cancellation, isOfOthers } = asked
    const startedAtMs = clock.nowMs() ?? 0
    void run(spec, cancellation, isOfOthers).then(ran => {
      permits.release(permit)
      take(buildResult(subject, occasion, startedAtMs, ran))
      if (isDraining && permits.countHeld() === 0) whenIdle()
    })
  }

  function startChain(monitor: AssignedMonitor, trigger: Trigger, runId: string, requestedMs: number): void {
    attempts.endDecided(monitor)
    const now = Math.floor(clock.nowMs() ?? 0)
    monitor.chain = createRecheckChain(
      monitor,
      timers.monotonicMs(),
      resolveChainTime(monitor, requestedMs, now),
      trigger,
      runId,
    )
    put(monitor, now)
  }

  /** Whether a chain is queued that has not begun, as after a change of the monitor. */
  function isChainQueued({ heapIndex, chain }: AssignedMonitor): boolean {
    return heapIndex >= 0 && chain !== null && chain.attempts.length === 0
  }

  function joinChain(monitor: AssignedMonitor, trigger: Trigger, runId: string): boolean {
    const mayJoin = isChainQueued(monitor) && monitor.chain!.runId === ''
    if (mayJoin) Object.assign(monitor.chain!, { trigger, runId })
    return mayJoin
  }

  /** Removes a monitor from the queue, and refuses the request of a chain that has not begun. */
  function removeFromQueue(monitor: AssignedMonitor, code: RunRefusal, message: string): void {
    const { trigger, runId } = isChainQueued(monitor) ? monitor.chain! : NO_REQUESTER
    queue.remove(monitor)
    if (runId === '') return
    answer(runId, { ...buildRefusedResult(getSubject(monitor), clock.nowMs() ?? 0, code, message), trigger, runId })
  }

  function getSubject({ assignment }: AssignedMonitor): ResultSubject {
    return { monitorId: assignment.monitorId, configVersion: assignment.configVersion, epoch }
  }

  function enqueue(monitor: AssignedMonitor, now: number): void {
    if (monitor.assignment.checkAtOnce) startChain(monitor, Trigger.SLOT, '', now)
    else put(monitor, findSlotFrom(monitor.slots, now))
  }

  /**
   * Adapts a monitor after the clock was set. Everything due stays due at the same moment; later slots are those of the new
   * time.
   */
  function shiftDueTime(monitor: AssignedMonitor, movedMs: number, now: number): void {
    if (monitor.heapIndex >= 0) queue.put(monitor, Math.round(monitor.dueMs + movedMs))
    shiftTimes(monitor, movedMs, now)
  }

  return {
    startChain,
    joinChain,
    checkOutOfBand(spec, asked, tenant, take) {
      const permit = isLeaving ? 'full' : permits.acquire(timers.monotonicMs(), tenant, queue.isSharedWith(tenant))
      if (typeof permit === 'string') return false
      check(permit, spec, asked, take)
      return true
    },
    epoch: () => epoch,
    stopOnDemandChecks() {
      isLeaving = true
    },
    isLeaving: () => isLeaving,
    apply(message) {
      const { added, retired, toCheckNow } = monitors.apply(message)
      for (const monitor of added) queue.join(monitor.tenant)
      for (const monitor of retired) {
        removeFromQueue(monitor, 'not_assigned', 'the monitor was changed or moved to another probe')
        queue.leave(monitor.tenant)
      }
      const now = clock.nowMs()
      if (now === null || isDraining) return
      for (const monitor of added) enqueue(monitor, now)
      for (const monitor of toCheckNow) if (!monitor.chain) startChain(monitor, Trigger.SLOT, '', now)
    },
    setEpoch(newEpoch) {
      // results under the previous epoch may not have counted
      if (newEpoch !== epoch) monitors.discardAllConclusions()
      epoch = newEpoch
    },
    clockLearned(movedMs) {
      const now = clock.nowMs()
      if (now === null || isDraining) return
      if (Math.abs(movedMs) > CLOCK_STEP_MS) {
        log.warn({ event: 'clock_step', seconds: Math.round(movedMs) / 1000 }, 'the clock of the control plane was set')
        monitors.discardAllConclusions()
        for (const monitor of monitors.all()) shiftDueTime(monitor, movedMs, now)
      }
      startDueChecks()
      if (hasTime) return
      hasTime = true
      for (const monitor of monitors.all()) if (monitor.heapIndex < 0 && !monitor.chain) enqueue(monitor, now)
    },
    drain() {
      isLeaving = true
      isDraining = true
      wakeUpTimer.stop()
      for (const monitor of monitors.all()) removeFromQueue(monitor, 'probe_busy', 'the probe is stopping')
      return new Promise(resolve => {
        whenIdle = resolve
        if (permits.countHeld() === 0) resolve()
      })
    },
    load() {
      const waiting = wakeUpTimer.countWaiting(clock.nowMs() ?? 0)
      const delays = { loopLagMs: wakeUpTimer.takeLagMs(), startDelayMs: Math.round(startDelayMs) }
      startDelayMs = 0
      return { running: permits.countHeld(), waiting, ...delays }
    },
  }
}
