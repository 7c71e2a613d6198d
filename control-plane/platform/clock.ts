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

/** Resolves once everything else that waits in this process has had its turn. */
export const afterOthers = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** For long work in pieces: after each piece it lets others go on, when the work has kept them for `everyMs`. */
export function createPauses(everyMs: number): () => Promise<void> {
  let sinceMs = monotonicMs()
  return async () => {
    if (monotonicMs() - sinceMs < everyMs) return
    await afterOthers()
    sinceMs = monotonicMs()
  }
}

/** What some work answers, or null when it takes longer than `ms`. It rejects as the work does. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T | null> {
  const patience = new AbortController()
  const late = sleep(ms, patience.signal).then(() => null)
  return Promise.race([work, late]).finally(() => patience.abort())
}
