import { DeadlineExceeded } from './failure.ts'
import { nowUs } from './monotonic.ts'

/**
 * As much of an AbortSignal as anything here looks at, so that one of those may be given too. Node's own has a shape of
 * its own each time, which makes everything slow that touches it: it cost as much as the rest of a ping.
 */
export type DeadlineSignal = {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener: (type: 'abort', listener: () => void) => void
  removeEventListener: (type: 'abort', listener: () => void) => void
}

/** `abort`: ends the work before its time, for another reason than the time. */
export type Deadline = { signal: DeadlineSignal; abort: (reason: Error) => void; clear: () => void }

/** How a caller calls work off. What runs sets `onCancel`; nothing happens without work under way. */
export type Cancellation = { isCancelled: boolean; onCancel: (() => void) | null; cancel: () => void }

export function createCancellation(): Cancellation {
  const cancellation: Cancellation = {
    isCancelled: false,
    onCancel: null,
    cancel() {
      cancellation.isCancelled = true
      cancellation.onCancel?.()
    },
  }
  return cancellation
}

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
  const abort = (reason: Error) => {
    if (isCleared || signal.aborted) return
    clearTimeout(timer)
    signal.aborted = true
    signal.reason = reason
    for (const listener of listeners) listener()
  }
  const arm = (delayMs: number) => {
    const dueUs = nowUs() + delayMs * 1000
    timer = setTimeout(() => {
      const lateMs = (nowUs() - dueUs) / 1000
      // Node counts from the beginning of our loop's turn, so a timer that is set late in it fires early.
      if (lateMs > LATE_MS || lateMs < 0) arm(Math.abs(lateMs))
      else setImmediate(abort, new DeadlineExceeded())
    }, delayMs)
  }
  arm(timeoutMs)
  return {
    signal,
    abort,
    clear() {
      isCleared = true
      clearTimeout(timer)
    },
  }
}
