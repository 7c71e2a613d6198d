import type { Timers } from '../clock.ts'
import { createAlarm } from './alarm.ts'
import type { AssignedMonitor } from './assigned-monitors.ts'
import type { FairQueue } from './fair-queue.ts'

/** When the loop looks at its queue again: one timer for all watches. Times by the control plane's clock, in ms. */
export type WakeUpTimer = {
  /** Queues a watch. `now` null: the time is not known yet. */
  put: (watch: AssignedMonitor, dueMs: number, now: number | null) => void
  /** Nothing can start now: until the earliest watch is due, or what is held back may have a place. */
  sleepUntilDue: (earliest: AssignedMonitor | undefined, now: number) => void
  sleepUntilPermit: () => void
  /** In the next turn of the event loop. */
  wakeNextTurn: () => void
  noteStart: (now: number) => void
  /** how many watches are late */
  countWaiting: (now: number) => number
  stop: () => void
  takeLagMs: () => number
}

/**
 * Waking up for each slot costs more than the check itself, so slots start in groups of about this size. Larger groups would
 * spoil each other's timings.
 */
const TARGET_GROUP_SIZE = 5
/** How long a slot waits for others: the longest where few are due, the shortest from 333 a second on. */
const MAX_WAIT_MS = 50
const MIN_WAIT_MS = 15
const PERMIT_RETRY_DELAY_MS = 50

export function createWakeUpTimer(timers: Timers, queue: FairQueue<AssignedMonitor>, look: () => void): WakeUpTimer {
  const alarm = createAlarm(timers, look)
  /** when checks were started last, and how many of them */
  let startedMs = 0
  let starts = TARGET_GROUP_SIZE
  let waitMs = MAX_WAIT_MS

  /** Moves an eighth of the way to the wait that would have given the last group its aimed size. */
  function adaptWait(): void {
    const fitting = (waitMs * TARGET_GROUP_SIZE) / starts
    waitMs += (Math.min(Math.max(fitting, MIN_WAIT_MS), MAX_WAIT_MS) - waitMs) / 8
  }

  /** The next attempt of a chain, and what was asked for, do not wait for others, but may start late behind a slot that waits. */
  function wakeMs({ chain, dueMs }: AssignedMonitor): number {
    return chain ? dueMs : Math.max(dueMs, Math.min(startedMs, dueMs) + waitMs)
  }

  return {
    put(watch, dueMs, now) {
      queue.put(watch, dueMs)
      if (queue.earliest() !== watch || now === null) return
      alarm.setIn(Math.max(wakeMs(watch) - now, 1))
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
