import { DeadlineExceeded } from './failure.ts'
import { nowUs } from './monotonic.ts'

/**
 * As much of an AbortSignal as anything here looks at, so that one of those may be given too. Node's own has a shape of
 * its own each time, which makes everything slow that touches it: it cost as much as the rest of a ping.
 */
export type Signal = {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener: (type: 'abort', listener: () => void) => void
  removeEventListener: (type: 'abort', listener: () => void) => void
}

export type Deadline = { signal: Signal; clear: () => void }

/** A timer later than this was held up by our own event loop. */
const LATE_MS = 20

/**
 * A signal that aborts after `timeoutMs` with DeadlineExceeded as its reason. Clear it when the work is done. Time in
 * which our own process stood still is given back: an answer that waited in the socket meanwhile is not the target's
 * delay, and timers run before sockets are read.
 */
export function createDeadline(timeoutMs: number): Deadline {
  const listeners = new Set<() => void>()
  const signal = {
    aborted: false,
    reason: undefined as unknown,
    addEventListener: (_type: 'abort', listener: () => void) => void listeners.add(listener),
    removeEventListener: (_type: 'abort', listener: () => void) => void listeners.delete(listener),
  }
  let isCleared = false
  let timer: NodeJS.Timeout
  const abort = () => {
    if (isCleared) return
    signal.aborted = true
    signal.reason = new DeadlineExceeded()
    for (const listener of listeners) listener()
  }
  const arm = (delayMs: number) => {
    const dueUs = nowUs() + delayMs * 1000
    timer = setTimeout(() => {
      const lateMs = (nowUs() - dueUs) / 1000
      // Node counts from the beginning of our loop's turn, so a timer that is set late in it fires early.
      if (lateMs > LATE_MS || lateMs < 0) arm(Math.abs(lateMs))
      else setImmediate(abort)
    }, delayMs)
  }
  arm(timeoutMs)
  return {
    signal,
    clear() {
      isCleared = true
      clearTimeout(timer)
    },
  }
}
