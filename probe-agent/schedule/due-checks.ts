import { Trigger } from '../../shared/checks/result.ts'
import { buildMissedResult } from '../execution/result-builder.ts'
import { type AssignedMonitor, createRecheckChain } from './assigned-monitors.ts'
import type { CheckPermit } from './check-permits.ts'
import { type CheckLoopState, getSubject } from './loop-state.ts'
import { findMissedSlots } from './slots.ts'

/** Starts per turn of the event loop, so that a burst does not distort the timings of running checks. */
const MAX_STARTS_PER_TURN = 25
/** Missed slots reported for a monitor after a long standstill; the number of older ones is only logged. */
const MAX_MISSED_REPORTED = 20

/** Starts the checks that are due, and sets the timer for the next ones. */
export function startDueChecks(loop: CheckLoopState): void {
  const { queue, wakeUpTimer, attempts, permits, timers } = loop
  const now = loop.clock.nowMs()
  if (now === null || loop.isDraining) return
  queue.release()
  for (let starts = 0; starts < MAX_STARTS_PER_TURN; ) {
    const monitor = queue.earliest()
    if (!monitor || monitor.dueMs > now) {
      wakeUpTimer.sleepUntilDue(monitor, now)
      return
    }
    const next = attempts.decideWhenDue(monitor)
    if (next === 'nothing') continue
    if (next === 'begin') reportMissedSlots(loop, monitor, now)
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
    startAttempt(loop, monitor, permit)
    starts++
  }
  wakeUpTimer.wakeNextTurn()
}

/** Publishes the slots that are too old to be checked, and makes the monitor due at the oldest one that is not. */
function reportMissedSlots(loop: CheckLoopState, monitor: AssignedMonitor, now: number): void {
  const { missed, next } = findMissedSlots(monitor.slots, monitor.dueMs, now)
  if (missed.length === 0) return
  const subject = getSubject(loop, monitor)
  if (missed.length > MAX_MISSED_REPORTED)
    loop.log.warn({ monitor_id: subject.monitorId, slots: missed.length }, 'missed slots')
  for (const slot of missed.slice(-MAX_MISSED_REPORTED)) loop.publish(buildMissedResult(subject, slot, now))
  loop.queue.put(monitor, next)
}

/** Starts the next attempt of the monitor's chain, or the first one of a new chain for its slot. */
function startAttempt(loop: CheckLoopState, monitor: AssignedMonitor, permit: CheckPermit): void {
  const { timers, clock, attempts } = loop
  const chain = monitor.chain ?? createRecheckChain(monitor, timers.monotonicMs(), monitor.dueMs, Trigger.SLOT, '')
  monitor.chain = chain
  monitor.lastScheduledMs = chain.scheduledAtMs
  if (chain.attempts.length === 0)
    loop.startDelayMs = Math.max(loop.startDelayMs, (clock.nowMs() ?? 0) - chain.scheduledAtMs)
  attempts.start(monitor, chain, permit)
}
