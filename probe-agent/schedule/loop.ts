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

export type CheckLoopOptions = {
  watches: AssignedMonitors
  clock: RemoteClock
  /** never rejects */
  run: (spec: CheckSpec, cancellation?: Cancellation, isOfOthers?: boolean) => Promise<CheckExecution>
  publish: (result: Result) => void
  /** a result that answers the run-now which began its chain */
  answer: (runId: string, result: Result) => void
  /** after the last attempt of a chain has gone out */
  onChainEnd?: (watch: AssignedMonitor, end: RecheckChainEnd) => void
  /** the first attempt of a chain has been silent for a while, and the region is not failing yet */
  onSilent?: (watch: AssignedMonitor) => void
  maxConcurrentChecks: number
  log: Log
  /** the machine's own unless given */
  timers?: Timers
}

export type CheckLoop = {
  apply: (message: Assignments) => void
  setEpoch: (epoch: number) => void
  /**
   * A check outside the schedule, at once; re-checks follow as after a slot. The watch must be in no chain that is not
   * decided. `askedForMs` is the scheduled time to report, unless it lies in the future or before what was already reported.
   */
  startChain: (watch: AssignedMonitor, trigger: Trigger, runId: string, askedForMs: number) => void
  /** The chain that is to begin becomes the one asked for. False: it has begun, or is another one's already. */
  joinChain: (watch: AssignedMonitor, trigger: Trigger, runId: string) => boolean
  /** One attempt for the one who asks: not re-checked, and `take` alone hears of it. False: no place for it. */
  checkOutOfBand: (spec: CheckSpec, asked: CheckRequest, tenant: number, take: (result: Result) => void) => boolean
  /** the assignment epoch that results carry */
  epoch: () => number
  /** Takes no more checks on demand; slots go on. */
  stopOnDemandChecks: () => void
  /** true from `leave` or `drain` on */
  isLeaving: () => boolean
  /** the control plane's clock was learned, or learned better, and moved by so much because of it */
  clockLearned: (movedMs: number) => void
  /** Starts nothing more; resolves when the last check has ended. */
  drain: () => Promise<void>
  /** At most since the last call: `loopLagMs`, how late a timer was, because the event loop was held; `startDelayMs`, how late a slot started. */
  load: () => { running: number; waiting: number; loopLagMs: number; startDelayMs: number }
}

/** Starts between which answers are read, so that a burst does not spoil the timings of what already runs. */
const MAX_STARTS_PER_TURN = 25
/** By more than this the control plane's clock was set; by less it was learned better. */
const CLOCK_STEP_MS = 1000
/** After a long standstill, the slots reported one by one for a monitor; what is older is only counted in the log. */
const MAX_MISSED_REPORTED = 20
const NO_REQUESTER = { trigger: Trigger.SLOT, runId: '' }

/** Starts checks when they are due, one timer for all, and re-checks what has to be confirmed (decisions 4.1, 4.2). */
export function createCheckLoop(parts: CheckLoopOptions): CheckLoop {
  const { watches, clock, run, publish, answer, onChainEnd, onSilent = () => {}, maxConcurrentChecks, log } = parts
  const { timers = machine } = parts
  const queue = createFairQueue<AssignedMonitor>()
  const places = createCheckPermits(maxConcurrentChecks)
  const waking = createWakeUpTimer(timers, queue, pump)
  let epoch = 0
  let isLeaving = false
  let isDraining = false
  let knowsTime = false
  let startDelayMs = 0
  let whenIdle = () => {}
  const attempts = createRecheckAttempts({
    timers,
    check,
    subjectOf,
    publish,
    answer,
    onSilent,
    onChainEnd,
    wakeIn(watch, ms) {
      if (ms === null) queue.remove(watch)
      else put(watch, (clock.nowMs() ?? 0) + Math.max(0, ms))
    },
    wakeAtSlot(watch, latestMs = Number.POSITIVE_INFINITY) {
      const now = clock.nowMs() ?? 0
      put(watch, Math.min(findNextSlot(watch, now), now + latestMs))
    },
  })

  function pump(): void {
    const now = clock.nowMs()
    if (now === null || isDraining) return
    queue.release()
    for (let starts = 0; starts < MAX_STARTS_PER_TURN; ) {
      const watch = queue.earliest()
      if (!watch || watch.dueMs > now) {
        waking.sleepUntilDue(watch, now)
        return
      }
      const next = attempts.decideWhenDue(watch)
      if (next === 'nothing') continue
      if (next === 'begin') giveUpMissed(watch, now)
      const place = places.acquire(timers.monotonicMs(), watch.tenant, queue.tenants() > 1)
      if (place === 'full') {
        waking.sleepUntilPermit()
        return
      }
      if (place === 'share') {
        queue.holdBack(watch.tenant)
        continue
      }
      queue.remove(watch)
      waking.noteStart(now)
      attempt(watch, place)
      starts++
    }
    waking.wakeNextTurn()
  }

  function put(watch: AssignedMonitor, dueMs: number): void {
    waking.put(watch, dueMs, clock.nowMs())
  }

  function giveUpMissed(watch: AssignedMonitor, now: number): void {
    const { missed, next } = findMissedSlots(watch.slots, watch.dueMs, now)
    if (missed.length === 0) return
    const subject = subjectOf(watch)
    if (missed.length > MAX_MISSED_REPORTED)
      log.warn({ monitor_id: subject.monitorId, slots: missed.length }, 'missed slots')
    for (const slot of missed.slice(-MAX_MISSED_REPORTED)) publish(buildMissedResult(subject, slot, now))
    queue.put(watch, next)
  }

  function attempt(watch: AssignedMonitor, place: CheckPermit): void {
    const chain = watch.chain ?? createRecheckChain(watch, timers.monotonicMs(), watch.dueMs, Trigger.SLOT, '')
    watch.chain = chain
    watch.lastScheduledMs = chain.scheduledAtMs
    if (chain.attempts.length === 0) startDelayMs = Math.max(startDelayMs, (clock.nowMs() ?? 0) - chain.scheduledAtMs)
    attempts.start(watch, chain, place)
  }

  /** Runs a check and gives its place back; what it saw goes to `take`. */
  function check(place: CheckPermit, spec: CheckSpec, asked: CheckRequest, take: (result: Result) => void): void {
    const { subject, occasion, cancellation, isOfOthers } = asked
    const startedAtMs = clock.nowMs() ?? 0
    void run(spec, cancellation, isOfOthers).then(ran => {
      places.release(place)
      take(buildResult(subject, occasion, startedAtMs, ran))
      if (isDraining && places.countHeld() === 0) whenIdle()
    })
  }

  function startChain(watch: AssignedMonitor, trigger: Trigger, runId: string, askedForMs: number): void {
    attempts.endDecided(watch)
    const now = Math.floor(clock.nowMs() ?? 0)
    watch.chain = createRecheckChain(
      watch,
      timers.monotonicMs(),
      resolveChainTime(watch, askedForMs, now),
      trigger,
      runId,
    )
    put(watch, now)
  }

  /** Due and not begun yet, as just after a change of the monitor. */
  function isAwaited({ heapIndex: place, chain }: AssignedMonitor): boolean {
    return place >= 0 && chain !== null && chain.attempts.length === 0
  }

  function joinChain(watch: AssignedMonitor, trigger: Trigger, runId: string): boolean {
    const mayJoin = isAwaited(watch) && watch.chain!.runId === ''
    if (mayJoin) Object.assign(watch.chain!, { trigger, runId })
    return mayJoin
  }

  /** Takes a watch out of the queue; who asked for a check that has not begun by then hears that it will not. */
  function dismiss(watch: AssignedMonitor, code: RunRefusal, message: string): void {
    const { trigger, runId } = isAwaited(watch) ? watch.chain! : NO_REQUESTER
    queue.remove(watch)
    if (runId === '') return
    answer(runId, { ...buildRefusedResult(subjectOf(watch), clock.nowMs() ?? 0, code, message), trigger, runId })
  }

  function subjectOf({ assignment }: AssignedMonitor): ResultSubject {
    return { monitorId: assignment.monitorId, configVersion: assignment.configVersion, epoch }
  }

  function enqueue(watch: AssignedMonitor, now: number): void {
    if (watch.assignment.checkAtOnce) startChain(watch, Trigger.SLOT, '', now)
    else put(watch, findSlotFrom(watch.slots, now))
  }

  /**
   * The clock was set: what is due stays due at the same moment, so that nothing idles and nothing comes twice at once.
   * From the check after that on slots are those of the new time.
   */
  function moveWith(watch: AssignedMonitor, movedMs: number, now: number): void {
    if (watch.heapIndex >= 0) queue.put(watch, Math.round(watch.dueMs + movedMs))
    shiftTimes(watch, movedMs, now)
  }

  return {
    startChain,
    joinChain,
    checkOutOfBand(spec, asked, tenant, take) {
      const place = isLeaving ? 'full' : places.acquire(timers.monotonicMs(), tenant, queue.isSharedWith(tenant))
      if (typeof place === 'string') return false
      check(place, spec, asked, take)
      return true
    },
    epoch: () => epoch,
    stopOnDemandChecks() {
      isLeaving = true
    },
    isLeaving: () => isLeaving,
    apply(message) {
      const { added, retired, toCheckNow } = watches.apply(message)
      for (const watch of added) queue.join(watch.tenant)
      for (const watch of retired) {
        dismiss(watch, 'not_assigned', 'the monitor was changed or moved meanwhile')
        queue.leave(watch.tenant)
      }
      const now = clock.nowMs()
      if (now === null || isDraining) return
      for (const watch of added) enqueue(watch, now)
      for (const watch of toCheckNow) if (!watch.chain) startChain(watch, Trigger.SLOT, '', now)
    },
    setEpoch(newEpoch) {
      // what was found under the one before may have been history
      if (newEpoch !== epoch) watches.discardAllConclusions()
      epoch = newEpoch
    },
    clockLearned(movedMs) {
      const now = clock.nowMs()
      if (now === null || isDraining) return
      if (Math.abs(movedMs) > CLOCK_STEP_MS) {
        log.warn({ event: 'clock_step', seconds: Math.round(movedMs) / 1000 }, 'the clock of the control plane was set')
        watches.discardAllConclusions()
        for (const watch of watches.all()) moveWith(watch, movedMs, now)
      }
      pump()
      if (knowsTime) return
      knowsTime = true
      for (const watch of watches.all()) if (watch.heapIndex < 0 && !watch.chain) enqueue(watch, now)
    },
    drain() {
      isLeaving = true
      isDraining = true
      waking.stop()
      for (const watch of watches.all()) dismiss(watch, 'probe_busy', 'the probe is stopping')
      return new Promise(resolve => {
        whenIdle = resolve
        if (places.countHeld() === 0) resolve()
      })
    },
    load() {
      const waiting = waking.countWaiting(clock.nowMs() ?? 0)
      const delays = { loopLagMs: waking.takeLagMs(), startDelayMs: Math.round(startDelayMs) }
      startDelayMs = 0
      return { running: places.countHeld(), waiting, ...delays }
    },
  }
}
