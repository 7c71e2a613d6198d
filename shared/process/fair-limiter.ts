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
  /**
   * Resolves when it is the key's turn, with the function that ends it. Rejects with the error of `refuse`, and with the
   * reason of `signal` when it aborts before.
   */
  acquire(key: string, signal?: AbortSignal): Promise<() => void>
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** True when no more work of the key may wait. */
  isFull(key: string): boolean
}

type Lane = { key: string; running: number; waiting: (() => void)[] }

type LimiterState = {
  limits: FairLimiterOptions
  lanes: Map<string, Lane>
  /** lanes with waiting work, in the order of their turns */
  queue: Set<Lane>
  /** of all keys together */
  running: number
}

/**
 * Shares limited capacity between keys. Each key has its own limit; waiting work continues in order, with the keys taking
 * turns. However much work one key has, another key waits only for running work and for one piece of each other key.
 *
 * Unlike a keyed limiter it limits all keys together, is fair between them, and lets the caller wait for a turn. It is for
 * requests, which are refused when they wait too long, not for claimed rows, which go back to their table.
 */
export function createFairLimiter(limits: FairLimiterOptions): FairLimiter {
  const state: LimiterState = { limits, lanes: new Map(), queue: new Set(), running: 0 }
  const acquireTurn = (key: string, signal?: AbortSignal) => acquire(state, key, signal)
  return {
    tryAcquire: key => tryAcquire(state, key),
    acquire: acquireTurn,
    async run(key, work) {
      const end = await acquireTurn(key)
      try {
        return await work()
      } finally {
        end()
      }
    },
    isFull: key => (state.lanes.get(key)?.waiting.length ?? 0) >= limits.maxWaitingPerKey,
  }
}

function tryAcquire(state: LimiterState, key: string): (() => void) | null {
  const { maxConcurrent, maxConcurrentPerKey } = state.limits
  if (state.running >= maxConcurrent) return null
  const lane = getLane(state, key)
  return lane.running < maxConcurrentPerKey ? beginTurn(state, lane) : null
}

async function acquire(state: LimiterState, key: string, signal?: AbortSignal): Promise<() => void> {
  signal?.throwIfAborted()
  const end = tryAcquire(state, key)
  if (end) return end
  const { maxWaitingPerKey, refuse } = state.limits
  const lane = getLane(state, key)
  if (lane.waiting.length >= maxWaitingPerKey) throw refuse('full')
  return await waitForTurn(state, lane, signal)
}

function getLane({ lanes }: LimiterState, key: string): Lane {
  const known = lanes.get(key)
  if (known) return known
  const lane = { key, running: 0, waiting: [] }
  lanes.set(key, lane)
  return lane
}

/** Returns the function that ends the turn; a second call of it does nothing. */
function beginTurn(state: LimiterState, lane: Lane): () => void {
  state.running++
  lane.running++
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    state.running--
    lane.running--
    startNext(state)
    deleteIfIdle(state, lane)
  }
}

/** Starts waiting work while there is capacity: one piece of each lane, which then goes to the end of the queue. */
function startNext(state: LimiterState): void {
  const { limits, queue } = state
  for (const lane of queue) {
    if (state.running >= limits.maxConcurrent) return
    if (lane.running >= limits.maxConcurrentPerKey) continue
    const next = lane.waiting.shift()
    queue.delete(lane)
    if (lane.waiting.length > 0) queue.add(lane)
    next?.()
  }
}

function waitForTurn(state: LimiterState, lane: Lane, signal?: AbortSignal): Promise<() => void> {
  const { waitTimeoutMs, refuse, onWaiting } = state.limits
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      onWaiting?.(-1)
    }
    const start = () => {
      leave()
      resolve(beginTurn(state, lane))
    }
    const giveUp = (error: unknown) => {
      leave()
      stopWaiting(state, lane, start)
      reject(error)
    }
    const abort = () => giveUp(signal?.reason)
    const timer = setTimeout(() => giveUp(refuse('late')), waitTimeoutMs)
    signal?.addEventListener('abort', abort)
    lane.waiting.push(start)
    state.queue.add(lane)
    onWaiting?.(1)
  })
}

function stopWaiting(state: LimiterState, lane: Lane, start: () => void): void {
  lane.waiting = lane.waiting.filter(other => other !== start)
  if (lane.waiting.length === 0) state.queue.delete(lane)
  deleteIfIdle(state, lane)
}

function deleteIfIdle({ lanes }: LimiterState, lane: Lane): void {
  if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(lane.key)
}
