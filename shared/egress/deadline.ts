import { DeadlineExceeded } from './failure.ts'
import { nowUs } from './monotonic.ts'

export type Deadline = { signal: AbortSignal; clear: () => void }

/** A timer later than this was held up by our own event loop. */
const LATE_MS = 20

/**
 * A signal that aborts after `timeoutMs` with DeadlineExceeded as its reason. Clear it when the work is done. Time in
 * which our own process stood still is given back: an answer that waited in the socket meanwhile is not the target's
 * delay, and timers run before sockets are read.
 */
export function createDeadline(timeoutMs: number): Deadline {
  const controller = new AbortController()
  let isCleared = false
  let timer: NodeJS.Timeout
  const arm = (delayMs: number) => {
    const dueUs = nowUs() + delayMs * 1000
    timer = setTimeout(() => {
      const lateMs = (nowUs() - dueUs) / 1000
      if (lateMs > LATE_MS) arm(lateMs)
      else setImmediate(() => isCleared || controller.abort(new DeadlineExceeded()))
    }, delayMs)
  }
  arm(timeoutMs)
  return {
    signal: controller.signal,
    clear() {
      isCleared = true
      clearTimeout(timer)
    },
  }
}
