export type Limits = {
  /** of all keys together */
  atOnce: number
  atOnceEach: number
  mostWaitingEach: number
  /** how long one waits for its turn */
  patienceMs: number
  /** the error of what may not wait, or has waited too long */
  refuse: (why: Refusal) => Error
  /** how many more or fewer wait now */
  onWaiting?: (change: 1 | -1) => void
}
export type Refusal = 'full' | 'late'

export type Turns = {
  /** What ends the turn when one is free for the key; null when it would have to wait. */
  takeNow(key: string): (() => void) | null
  /** Resolves when it is the key's turn, with what ends the turn. Rejects with the error of `refuse`. */
  take(key: string): Promise<() => void>
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Whether no more of the key may wait. */
  isFull(key: string): boolean
}

type Lane = { key: string; running: number; waiting: (() => void)[] }

/**
 * Shares something scarce between keys: each has a limit of its own, and what waits goes on in its order, the keys by
 * turns. However much one key asks for, another waits for the work that runs already and for one of each other key.
 */
export function createTurns(limits: Limits): Turns {
  const { atOnce, atOnceEach, mostWaitingEach, patienceMs, refuse, onWaiting = () => {} } = limits
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
      if (running >= atOnce) return
      if (lane.running >= atOnceEach) continue
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
      }, patienceMs)
      lane.waiting.push(begins)
      queue.add(lane)
      onWaiting(1)
    })

  function takeNow(key: string): (() => void) | null {
    if (running >= atOnce) return null
    const lane = laneOf(key)
    return lane.running < atOnceEach ? begin(lane) : null
  }

  async function take(key: string): Promise<() => void> {
    const end = takeNow(key)
    if (end) return end
    const lane = laneOf(key)
    if (lane.waiting.length >= mostWaitingEach) throw refuse('full')
    return await wait(lane)
  }

  return {
    takeNow,
    take,
    async run(key, work) {
      const end = await take(key)
      try {
        return await work()
      } finally {
        end()
      }
    },
    isFull: key => (lanes.get(key)?.waiting.length ?? 0) >= mostWaitingEach,
  }
}
