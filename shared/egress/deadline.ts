import { DeadlineExceeded } from './failure.ts'

export type Deadline = { signal: AbortSignal; clear: () => void }

/** A signal that aborts after `timeoutMs` with DeadlineExceeded as its reason. Clear it when the work is done. */
export function createDeadline(timeoutMs: number): Deadline {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DeadlineExceeded()), timeoutMs)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}
