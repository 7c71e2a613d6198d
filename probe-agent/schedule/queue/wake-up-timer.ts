import type { Timers } from '../../clock.ts'
import type { AssignedMonitor } from '../assigned-monitors.ts'
import { createAlarm } from './alarm.ts'
import type { FairQueue } from './fair-queue.ts'

/** Decides when the loop processes its queue: one timer for all monitors. Times in ms by the control plane's clock. */
export type WakeUpTimer = {
  /** Queues a monitor. `now` null: the time is not known yet. */
  put: (monitor: AssignedMonitor, dueMs: number, now: number | null) => void
  /** Nothing can start now: sleeps until the earliest monitor is due, or until a tenant that is held back may get a permit. */
  sleepUntilDue: (earliest: AssignedMonitor | undefined, now: number) => void
  sleepUntilPermit: () => void
  /** In the next turn of the event loop. */
  wakeNextTurn: () => void
  noteStart: (now: number) => void
  /** the number of monitors that are late */
  countWaiting: (now: number) => number
  stop: () => void
  takeLagMs: () => number
}

/**
 * Waking up for each slot costs more than the check itself, so slots start in groups of about this size. Larger groups
 * would distort each other's timings.
 */
const TARGET_GROUP_SIZE = 5
/** How long a slot waits for others: the maximum when few are due, the minimum at 333 a second or more. */
const MAX_WAIT_MS = 50
const MIN_WAIT_MS = 15
const PERMIT_RETRY_DELAY_MS = 50

export function createWakeUpTimer(timers: Timers, queue: FairQueue<AssignedMonitor>, look: () => void): WakeUpTimer {
  const alarm = createAlarm(timers, look)
  /** when the last group started, and its size */
  let startedMs = 0
  let starts = TARGET_GROUP_SIZE
  let waitMs = MAX_WAIT_MS

  /** Moves the wait by an eighth towards the value that would have given the last group its target size. */
  function adaptWait(): void {
    const fitting = (waitMs * TARGET_GROUP_SIZE) / starts
    waitMs += (Math.min(Math.max(fitting, MIN_WAIT_MS), MAX_WAIT_MS) - waitMs) / 8
  }

  /** Re-checks and checks on demand do not wait for others. */
  function wakeMs({ chain, dueMs }: AssignedMonitor): number {
    return chain ? dueMs : Math.max(dueMs, Math.min(startedMs, dueMs) + waitMs)
  }

  return {
    put(monitor, dueMs, now) {
      queue.put(monitor, dueMs)
      if (queue.earliest() !== monitor || now === null) return
      alarm.setIn(Math.max(wakeMs(monitor) - now, 1))
    },
    sleepUntilDue(earliest, now) {
      const ms = earliest ? earliest.dueMs - now : Number.POSITIVE_INFINITY
      if (queue.isAnyHeldBack()) alarm.setIn(Math.min(ms, PERMIT_RETRY_DELAY_MS))
      else if (earliest) alarm.setIn(wakeMs(earliest) - now)
    },
    sleepUntilPermit: () => alarm.setIn(PERMIT_RETRY_DELAY_MS),
    wakeNextTurn: () => alarm.setIn(0),
    noteStart(now) {
      if (now !== startedMs) {
        adaptWait()
        startedMs = now
        starts = 0
      }
      starts++
    },
    countWaiting: now => queue.countDue(now - waitMs),
    stop: alarm.stop,
    takeLagMs: alarm.takeLagMs,
  }
}
