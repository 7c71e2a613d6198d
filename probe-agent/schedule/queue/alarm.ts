import type { CancelTimer, Timers } from '../../clock.ts'

/** One timer that can be set repeatedly; the newest time replaces the previous one. */
type Alarm = {
  /** Calls after `ms`, at most after 1 s. 0 or less: in the next turn of the event loop. */
  setIn: (ms: number) => void
  stop: () => void
  /** The maximum delay since the previous call, caused by a blocked event loop. */
  takeLagMs: () => number
}

const MAX_TIMER_MS = 1000

export function createAlarm(timers: Timers, call: () => void): Alarm {
  let stop: CancelTimer = () => {}
  let lagMs = 0
  /** when the timer is due; Infinity: not set */
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
