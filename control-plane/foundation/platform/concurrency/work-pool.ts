type WorkPoolOptions = {
  maxConcurrent: number
  /** called with the number of running pieces of work when one has started or ended, for a gauge */
  onChange?: (running: number) => void
  /** called when work has ended and its place is free, to claim more */
  onFree?: () => void
}

/** The work that one process has claimed and runs now. */
export type WorkPool = {
  /**
   * Starts work. The pool refuses nothing, because claimed work has to run: claim at most `free()`. Work handles its own
   * errors; a rejection is an unhandled one.
   */
  start(work: () => Promise<void>): void
  /** How many places are free, when `waiting` more pieces of claimed work need one. Never negative. */
  free(waiting?: number): number
  /** Resolves when no work runs any more, including work that running work has started. For a stop. */
  waitUntilIdle(): Promise<void>
}

/**
 * A pool for workers that claim rows with a lease: claim as many as are `free`, `start` them, record the results and claim
 * again. When to claim is up to the worker: `onFree` is for those that can claim as soon as a place is free.
 */
export function createWorkPool({ maxConcurrent, onChange, onFree }: WorkPoolOptions): WorkPool {
  const running = new Set<Promise<void>>()
  return {
    start(work) {
      const ending = work()
      running.add(ending)
      onChange?.(running.size)
      void ending.finally(() => {
        running.delete(ending)
        onChange?.(running.size)
        onFree?.()
      })
    },
    free: (waiting = 0) => Math.max(0, maxConcurrent - running.size - waiting),
    async waitUntilIdle() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}
