/** The one clock of the control plane. Pure files take `now` as an argument instead. */

export const nowMs = (): number => Date.now()
export const now = (): Date => new Date()

/** Milliseconds by the monotonic clock: for durations, never for dates. */
export const monotonicMs = (): number => performance.now()

/** Resolves after `ms`, or at once when `signal` aborts (it never rejects). */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
}
