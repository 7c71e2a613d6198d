import { DeadlineExceededError } from './failure.ts'
import { nowUs } from './monotonic.ts'

/**
 * The part of AbortSignal that this module uses, so an AbortSignal can be passed too. Node's own class is slow: it cost as
 * much as the rest of a ping.
 */
export type DeadlineSignal = {
  readonly aborted: boolean
  readonly reason: unknown
  /** the time until the deadline; an AbortSignal has none */
  getRemainingMs?: () => number
  addEventListener: (type: 'abort', listener: () => void) => void
  removeEventListener: (type: 'abort', listener: () => void) => void
}

/** `abort`: ends the work early, for another reason than the deadline. */
type Deadline = { signal: DeadlineSignal; abort: (reason: Error) => void; clear: () => void }

/** Lets a caller cancel work. Running work sets `onCancel`; without running work, `cancel` only sets `isCancelled`. */
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

/** A timer that is later than this was delayed by a blocked event loop. */
const LATE_MS = 20

/**
 * Calls `work` after `delayMs`, and returns the function that prevents it. Time in which the event loop was blocked extends the
 * delay: an answer that waited in the socket is not the target's delay, and timers run before sockets are read.
 */
export function startTimeLimit(delayMs: number, work: () => void): () => void {
  let isStopped = false
  let timer: NodeJS.Timeout
  const arm = (ms: number) => {
    const dueUs = nowUs() + ms * 1000
    timer = setTimeout(() => {
      const lateMs = (nowUs() - dueUs) / 1000
      // Node measures from the beginning of the event loop's turn, so a timer that is set late in a turn fires early.
      if (lateMs > LATE_MS || lateMs < 0) arm(Math.abs(lateMs))
      else setImmediate(() => isStopped || work())
    }, ms)
  }
  arm(delayMs)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

/**
 * A signal that aborts after `timeoutMs` with DeadlineExceededError as its reason (see startTimeLimit). Clear it when the work is
 * done.
 */
export function createDeadline(timeoutMs: number): Deadline {
  const listeners = new Set<() => void>()
  const endUs = nowUs() + timeoutMs * 1000
  const signal = {
    aborted: false,
    reason: undefined as unknown,
    getRemainingMs: () => Math.max(0, (endUs - nowUs()) / 1000),
    addEventListener: (_type: 'abort', listener: () => void) => void listeners.add(listener),
    removeEventListener: (_type: 'abort', listener: () => void) => void listeners.delete(listener),
  }
  let isCleared = false
  const abort = (reason: Error) => {
    if (isCleared || signal.aborted) return
    stop()
    signal.aborted = true
    signal.reason = reason
    for (const listener of listeners) listener()
  }
  const stop = startTimeLimit(timeoutMs, () => abort(new DeadlineExceededError()))
  return {
    signal,
    abort,
    clear() {
      isCleared = true
      stop()
    },
  }
}
