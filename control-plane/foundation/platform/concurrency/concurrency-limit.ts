/** How many may wait; further work is rejected with the error of `refuse`. */
type WaitingLimit = { maxWaiting: number; refuse: () => Error }

/** Runs at most `limit` pieces of work at the same time; the others wait in order. */
export function limitConcurrency(limit: number, queue?: WaitingLimit): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async work => {
    if (running < limit) running++
    else {
      if (queue && waiting.length >= queue.maxWaiting) throw queue.refuse()
      await new Promise<void>(resolve => waiting.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
