export type FairLimiterOptions = {
  /** of all keys together */
  maxConcurrent: number
  maxConcurrentPerKey: number
  maxWaitingPerKey: number
  /** how long work waits for its turn */
  waitTimeoutMs: number
  /** the error for work that may not wait, or has waited too long */
  refuse: (why: LimiterRefusal) => Error
  /** called when the number of waiting pieces of work changes */
  onWaiting?: (change: 1 | -1) => void
}
export type LimiterRefusal = 'full' | 'late'

type FairLimiter = {
  /** Begins a turn and returns the function that ends it; null when the key would have to wait. */
  tryAcquire(key: string): (() => void) | null
  /** Resolves when it is the key's turn, with the function that ends it. Rejects with the error of `refuse`. */
  acquire(key: string): Promise<() => void>
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** True when no more work of the key may wait. */
  isFull(key: string): boolean
}

type Lane = { key: string; running: number; waiting: (() => void)[] }

/**
 * Shares limited capacity between keys. Each key has its own limit; waiting work continues in order, with the keys taking
 * turns. However much work one key has, another key waits only for running work and for one piece of each other key.
 */
export function createFairLimiter(limits: FairLimiterOptions): FairLimiter {
  const { maxConcurrent, maxConcurrentPerKey, maxWaitingPerKey, waitTimeoutMs, refuse, onWaiting = () => {} } = limits
  const lanes = new Map<string, Lane>()
  // lanes with waiting work, in the order of their turns
  const queue = new Set<Lane>()
  let running = 0

  function getLane(key: string): Lane {
    const known = lanes.get(key)
    if (known) return known
    const lane = { key, running: 0, waiting: [] }
    lanes.set(key, lane)
    return lane
  }

  function begin(lane: Lane): () => void {
    running++
    lane.running++
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      running--
      lane.running--
      startNext()
      deleteIfIdle(lane)
    }
  }

  function startNext(): void {
    for (const lane of queue) {
      if (running >= maxConcurrent) return
      if (lane.running >= maxConcurrentPerKey) continue
      const next = lane.waiting.shift()
      queue.delete(lane)
      if (lane.waiting.length > 0) queue.add(lane)
      next?.()
    }
  }

  function deleteIfIdle(lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(lane.key)
  }

  function leave(lane: Lane, start: () => void): void {
    lane.waiting = lane.waiting.filter(other => other !== start)
    if (lane.waiting.length === 0) queue.delete(lane)
    deleteIfIdle(lane)
  }

  const wait = (lane: Lane) =>
    new Promise<() => void>((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        onWaiting(-1)
        resolve(begin(lane))
      }
      const timer = setTimeout(() => {
        onWaiting(-1)
        leave(lane, start)
        reject(refuse('late'))
      }, waitTimeoutMs)
      lane.waiting.push(start)
      queue.add(lane)
      onWaiting(1)
    })

  function tryAcquire(key: string): (() => void) | null {
    if (running >= maxConcurrent) return null
    const lane = getLane(key)
    return lane.running < maxConcurrentPerKey ? begin(lane) : null
  }

  async function acquire(key: string): Promise<() => void> {
    const end = tryAcquire(key)
    if (end) return end
    const lane = getLane(key)
    if (lane.waiting.length >= maxWaitingPerKey) throw refuse('full')
    return await wait(lane)
  }

  return {
    tryAcquire,
    acquire,
    async run(key, work) {
      const end = await acquire(key)
      try {
        return await work()
      } finally {
        end()
      }
    },
    isFull: key => (lanes.get(key)?.waiting.length ?? 0) >= maxWaitingPerKey,
  }
}
