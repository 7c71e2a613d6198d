import { createAlarm } from './alarm.ts'
import type { Timers } from './clock.ts'
import type { FairQueue } from './fair-queue.ts'
import type { Watch } from './watches.ts'

/** When the loop looks at its queue again: one timer for all watches. Times by the control plane's clock, in ms. */
export type Waking = {
  /** Queues a watch. `now` null: the time is not known yet. */
  put: (watch: Watch, dueMs: number, now: number | null) => void
  /** Nothing can start now: until the earliest watch is due, or what is held back may have a place. */
  sleepUntilDue: (earliest: Watch | undefined, now: number) => void
  sleepUntilPlace: () => void
  /** In the next turn of the event loop. */
  goOn: () => void
  noteStart: (now: number) => void
  /** how many watches are late */
  waiting: (now: number) => number
  stop: () => void
  takeLagMs: () => number
}

/** Slots that follow each other more closely start together: waking up for each one costs as much as half a check. */
const TOGETHER_MS = 15
const LOOK_FOR_PLACE_AFTER_MS = 50

export function createWaking(timers: Timers, queue: FairQueue<Watch>, look: () => void): Waking {
  const alarm = createAlarm(timers, look)
  /** when a check was started last */
  let startedMs = 0

  /** The next attempt of a chain, and what was asked for, wait for no other check. */
  function wakeMs({ chain, dueMs }: Watch): number {
    return chain ? dueMs : Math.max(dueMs, Math.min(startedMs, dueMs) + TOGETHER_MS)
  }

  return {
    put(watch, dueMs, now) {
      queue.put(watch, dueMs)
      if (queue.earliest() !== watch || now === null) return
      alarm.setIn(Math.max(wakeMs(watch) - now, 1))
    },
    sleepUntilDue(earliest, now) {
      const ms = earliest ? earliest.dueMs - now : Number.POSITIVE_INFINITY
      if (queue.isAnyHeldBack()) alarm.setIn(Math.min(ms, LOOK_FOR_PLACE_AFTER_MS))
      else if (earliest) alarm.setIn(wakeMs(earliest) - now)
    },
    sleepUntilPlace: () => alarm.setIn(LOOK_FOR_PLACE_AFTER_MS),
    goOn: () => alarm.setIn(0),
    noteStart(now) {
      startedMs = now
    },
    waiting: now => queue.countDue(now - TOGETHER_MS),
    stop: alarm.stop,
    takeLagMs: alarm.takeLagMs,
  }
}
