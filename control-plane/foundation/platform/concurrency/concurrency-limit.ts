/** How many may wait; whoever comes after them meets the error that `refuse` makes. */
export type WaitingLimit = { maxWaiting: number; refuse: () => Error }

/** Runs work that is handed in, at most `limit` of it at once; the rest waits in its order. */
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
