import type { Assignments, CheckSpec } from '../proto/gen/probe/v1/fleet.ts'
import type { Cancellation } from '../shared/egress/index.ts'
import type { Log } from '../shared/log.ts'
import type { RemoteClock } from '../shared/remote-clock.ts'
import { type Result, type RunRefusal, Trigger } from '../shared/result.ts'
import { slotFrom } from '../shared/slots.ts'
import { type Asked, createAttempts } from './attempts.ts'
import { machine, type Timers } from './clock.ts'
import { createFairQueue } from './fair-queue.ts'
import { missedResult, refusedResult, resultOf, type Subject } from './observed.ts'
import { createPlaces, type Place } from './places.ts'
import type { Ran } from './run.ts'
import { missedSlots } from './schedule.ts'
import type { ChainEnd } from './screenshots/wanted.ts'
import { createWaking } from './waking.ts'
import { moveTimes, nextSlot, timeOfChain } from './watch-times.ts'
import { newChain, type Watch, type Watches } from './watches.ts'

export type LoopParts = {
  watches: Watches
  clock: RemoteClock
  /** never rejects */
  run: (spec: CheckSpec, cancellation?: Cancellation, isOfOthers?: boolean) => Promise<Ran>
  publish: (result: Result) => void
  /** a result that answers the run-now which began its chain */
  answer: (runId: string, result: Result) => void
  /** after the last attempt of a chain has gone out */
  onChainEnd?: (watch: Watch, end: ChainEnd) => void
  /** the first attempt of a chain has been silent for a while, and the region is not failing yet */
  onSilent?: (watch: Watch) => void
  maxConcurrentChecks: number
  log: Log
  /** the machine's own unless given */
  timers?: Timers
}

export type Loop = {
  apply: (message: Assignments) => void
  setEpoch: (epoch: number) => void
  /**
   * A check outside the schedule, at once; re-checks follow as after a slot. The watch must be in no chain that is not
   * decided. `askedForMs` is the scheduled time to report, unless it lies in the future or before what was already reported.
   */
  startChain: (watch: Watch, trigger: Trigger, runId: string, askedForMs: number) => void
  /** The chain that is to begin becomes the one asked for. False: it has begun, or is another one's already. */
  joinChain: (watch: Watch, trigger: Trigger, runId: string) => boolean
  /** One attempt for the one who asks: not re-checked, and `take` alone hears of it. False: no place for it. */
  checkAside: (spec: CheckSpec, asked: Asked, tenant: number, take: (result: Result) => void) => boolean
  /** the assignment epoch that results carry */
  epoch: () => number
  /** Takes no more checks on demand; slots go on. */
  leave: () => void
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
const STARTS_A_TURN = 25
/** By more than this the control plane's clock was set; by less it was learned better. */
const SET_BY_MS = 1000
/** After a long standstill, the slots reported one by one for a monitor; what is older is only counted in the log. */
const MISSED_REPORTED = 20
const NOBODY = { trigger: Trigger.SLOT, runId: '' }

/** Starts checks when they are due, one timer for all, and re-checks what has to be confirmed (decisions 4.1, 4.2). */
export function createLoop(parts: LoopParts): Loop {
  const { watches, clock, run, publish, answer, onChainEnd, onSilent = () => {}, maxConcurrentChecks, log } = parts
  const { timers = machine } = parts
  const queue = createFairQueue<Watch>()
  const places = createPlaces(maxConcurrentChecks)
  const waking = createWaking(timers, queue, pump)
  let epoch = 0
  let isLeaving = false
  let isDraining = false
  let knowsTime = false
  let startDelayMs = 0
  let whenIdle = () => {}
  const attempts = createAttempts({
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
      put(watch, Math.min(nextSlot(watch, now), now + latestMs))
    },
  })

  function pump(): void {
    const now = clock.nowMs()
    if (now === null || isDraining) return
    queue.release()
    for (let starts = 0; starts < STARTS_A_TURN; ) {
      const watch = queue.earliest()
      if (!watch || watch.dueMs > now) {
        waking.sleepUntilDue(watch, now)
        return
      }
      const next = attempts.whenDue(watch)
      if (next === 'nothing') continue
      if (next === 'begin') giveUpMissed(watch, now)
      const place = places.take(timers.monotonicMs(), watch.tenant, queue.tenants() > 1)
      if (place === 'full') {
        waking.sleepUntilPlace()
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
    waking.goOn()
  }

  function put(watch: Watch, dueMs: number): void {
    waking.put(watch, dueMs, clock.nowMs())
  }

  function giveUpMissed(watch: Watch, now: number): void {
    const { missed, next } = missedSlots(watch.slots, watch.dueMs, now)
    if (missed.length === 0) return
    const subject = subjectOf(watch)
    if (missed.length > MISSED_REPORTED)
      log.warn({ monitor_id: subject.monitorId, slots: missed.length }, 'missed slots')
    for (const slot of missed.slice(-MISSED_REPORTED)) publish(missedResult(subject, slot, now))
    queue.put(watch, next)
  }

  function attempt(watch: Watch, place: Place): void {
    const chain = watch.chain ?? newChain(watch, timers.monotonicMs(), watch.dueMs, Trigger.SLOT, '')
    watch.chain = chain
    watch.lastScheduledMs = chain.scheduledAtMs
    if (chain.attempts.length === 0) startDelayMs = Math.max(startDelayMs, (clock.nowMs() ?? 0) - chain.scheduledAtMs)
    attempts.start(watch, chain, place)
  }

  /** Runs a check and gives its place back; what it saw goes to `take`. */
  function check(place: Place, spec: CheckSpec, asked: Asked, take: (result: Result) => void): void {
    const { subject, occasion, cancellation, isOfOthers } = asked
    const startedAtMs = clock.nowMs() ?? 0
    void run(spec, cancellation, isOfOthers).then(ran => {
      places.giveBack(place)
      take(resultOf(subject, occasion, startedAtMs, ran))
      if (isDraining && places.taken() === 0) whenIdle()
    })
  }

  function startChain(watch: Watch, trigger: Trigger, runId: string, askedForMs: number): void {
    attempts.endDecided(watch)
    const now = Math.floor(clock.nowMs() ?? 0)
    watch.chain = newChain(watch, timers.monotonicMs(), timeOfChain(watch, askedForMs, now), trigger, runId)
    put(watch, now)
  }

  /** Due and not begun yet, as just after a change of the monitor. */
  function isAwaited({ place, chain }: Watch): boolean {
    return place >= 0 && chain !== null && chain.attempts.length === 0
  }

  function joinChain(watch: Watch, trigger: Trigger, runId: string): boolean {
    const mayJoin = isAwaited(watch) && watch.chain!.runId === ''
    if (mayJoin) Object.assign(watch.chain!, { trigger, runId })
    return mayJoin
  }

  /** Takes a watch out of the queue; who asked for a check that has not begun by then hears that it will not. */
  function dismiss(watch: Watch, code: RunRefusal, message: string): void {
    const { trigger, runId } = isAwaited(watch) ? watch.chain! : NOBODY
    queue.remove(watch)
    if (runId === '') return
    answer(runId, { ...refusedResult(subjectOf(watch), clock.nowMs() ?? 0, code, message), trigger, runId })
  }

  function subjectOf({ assignment }: Watch): Subject {
    return { monitorId: assignment.monitorId, configVersion: assignment.configVersion, epoch }
  }

  function enqueue(watch: Watch, now: number): void {
    if (watch.assignment.checkAtOnce) startChain(watch, Trigger.SLOT, '', now)
    else put(watch, slotFrom(watch.slots, now))
  }

  /**
   * The clock was set: what is due stays due at the same moment, so that nothing idles and nothing comes twice at once.
   * From the check after that on slots are those of the new time.
   */
  function moveWith(watch: Watch, movedMs: number, now: number): void {
    if (watch.place >= 0) queue.put(watch, Math.round(watch.dueMs + movedMs))
    moveTimes(watch, movedMs, now)
  }

  return {
    startChain,
    joinChain,
    checkAside(spec, asked, tenant, take) {
      const place = isLeaving ? 'full' : places.take(timers.monotonicMs(), tenant, queue.isSharedWith(tenant))
      if (typeof place === 'string') return false
      check(place, spec, asked, take)
      return true
    },
    epoch: () => epoch,
    leave() {
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
      if (newEpoch !== epoch) watches.noneCounted()
      epoch = newEpoch
    },
    clockLearned(movedMs) {
      const now = clock.nowMs()
      if (now === null || isDraining) return
      if (Math.abs(movedMs) > SET_BY_MS) {
        log.warn({ event: 'clock_step', seconds: Math.round(movedMs) / 1000 }, 'the clock of the control plane was set')
        watches.noneCounted()
        for (const watch of watches.all()) moveWith(watch, movedMs, now)
      }
      pump()
      if (knowsTime) return
      knowsTime = true
      for (const watch of watches.all()) if (watch.place < 0 && !watch.chain) enqueue(watch, now)
    },
    drain() {
      isLeaving = true
      isDraining = true
      waking.stop()
      for (const watch of watches.all()) dismiss(watch, 'probe_busy', 'the probe is stopping')
      return new Promise(resolve => {
        whenIdle = resolve
        if (places.taken() === 0) resolve()
      })
    },
    load() {
      const waiting = waking.waiting(clock.nowMs() ?? 0)
      const delays = { loopLagMs: waking.takeLagMs(), startDelayMs: Math.round(startDelayMs) }
      startDelayMs = 0
      return { running: places.taken(), waiting, ...delays }
    },
  }
}
