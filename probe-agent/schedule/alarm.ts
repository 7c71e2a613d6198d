import type { CancelTimer, Timers } from '../clock.ts'

/** One timer that is set again and again: the newest time counts. */
export type Alarm = {
  /** Calls in so many ms, a second at most; 0 or less: in the next turn of the event loop. */
  setIn: (ms: number) => void
  stop: () => void
  /** How late it was at most since the last call, because the event loop was held. */
  takeLagMs: () => number
}

const MAX_TIMER_MS = 1000

export function createAlarm(timers: Timers, call: () => void): Alarm {
  let stop: CancelTimer = () => {}
  let lagMs = 0
  /** when the timer that is set is due; Infinity: none is */
  let untilMs = Number.POSITIVE_INFINITY
  const noteLag = () => {
    lagMs = Math.max(lagMs, timers.monotonicMs() - untilMs)
    untilMs = Number.POSITIVE_INFINITY
  }
  return {
    setIn(ms) {
      stop()
      noteLag()
      if (ms <= 0) {
        timers.soon(call)
        return
      }
      const lengthMs = Math.min(Math.ceil(ms), MAX_TIMER_MS)
      untilMs = timers.monotonicMs() + lengthMs
      stop = timers.after(lengthMs, () => {
        noteLag()
        call()
      })
    },
    stop: () => stop(),
    takeLagMs() {
      const most = Math.round(lagMs)
      lagMs = 0
      return most
    },
  }
}
