export type FairLimiterOptions = {
  /** of all keys together */
  maxConcurrent: number
  maxConcurrentPerKey: number
  maxWaitingPerKey: number
  /** how long one waits for its turn */
  waitTimeoutMs: number
  /** the error of what may not wait, or has waited too long */
  refuse: (why: LimiterRefusal) => Error
  /** how many more or fewer wait now */
  onWaiting?: (change: 1 | -1) => void
}
export type LimiterRefusal = 'full' | 'late'

export type FairLimiter = {
  /** What ends the turn when one is free for the key; null when it would have to wait. */
  tryAcquire(key: string): (() => void) | null
  /** Resolves when it is the key's turn, with what ends the turn. Rejects with the error of `refuse`. */
  acquire(key: string): Promise<() => void>
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Whether no more of the key may wait. */
  isFull(key: string): boolean
}

type Lane = { key: string; running: number; waiting: (() => void)[] }

/**
 * Shares something scarce between keys: each has a limit of its own, and what waits goes on in its order, the keys by
 * turns. However much one key asks for, another waits for the work that runs already and for one of each other key.
 */
export function createFairLimiter(limits: FairLimiterOptions): FairLimiter {
  const { maxConcurrent, maxConcurrentPerKey, maxWaitingPerKey, waitTimeoutMs, refuse, onWaiting = () => {} } = limits
  const lanes = new Map<string, Lane>()
  // those with something that waits, in the order of their turns
  const queue = new Set<Lane>()
  let running = 0

  function laneOf(key: string): Lane {
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
      goOn()
      forgetIfIdle(lane)
    }
  }

  function goOn(): void {
    for (const lane of queue) {
      if (running >= maxConcurrent) return
      if (lane.running >= maxConcurrentPerKey) continue
      const next = lane.waiting.shift()
      queue.delete(lane)
      if (lane.waiting.length > 0) queue.add(lane)
      next?.()
    }
  }

  function forgetIfIdle(lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(lane.key)
  }

  function leave(lane: Lane, begins: () => void): void {
    lane.waiting = lane.waiting.filter(other => other !== begins)
    if (lane.waiting.length === 0) queue.delete(lane)
    forgetIfIdle(lane)
  }

  const wait = (lane: Lane) =>
    new Promise<() => void>((resolve, reject) => {
      const begins = () => {
        clearTimeout(timer)
        onWaiting(-1)
        resolve(begin(lane))
      }
      const timer = setTimeout(() => {
        onWaiting(-1)
        leave(lane, begins)
        reject(refuse('late'))
      }, waitTimeoutMs)
      lane.waiting.push(begins)
      queue.add(lane)
      onWaiting(1)
    })

  function tryAcquire(key: string): (() => void) | null {
    if (running >= maxConcurrent) return null
    const lane = laneOf(key)
    return lane.running < maxConcurrentPerKey ? begin(lane) : null
  }

  async function acquire(key: string): Promise<() => void> {
    const end = tryAcquire(key)
    if (end) return end
    const lane = laneOf(key)
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
