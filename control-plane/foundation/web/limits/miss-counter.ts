/** Counts, a minute and network, what was asked for and does not exist. */
export type MissCounter = {
  /** how long a network has to wait because of too many; 0: not at all */
  waitSeconds(network: string, nowMs: number): number
  /** counts one; what it answers takes that back */
  count(network: string, nowMs: number): () => void
}

const WINDOW_MS = 60_000

/** `limit` a minute and network, in windows of the clock's minutes; it remembers only the networks of this minute. */
export function createMissCounter(limit: number): MissCounter {
  let window = 0
  let counts = new Map<string, number>()
  const countsAt = (nowMs: number) => {
    const current = Math.floor(nowMs / WINDOW_MS)
    if (current !== window) counts = new Map()
    window = current
    return counts
  }
  return {
    waitSeconds(network, nowMs) {
      const isOver = (countsAt(nowMs).get(network) ?? 0) >= limit
      return isOver ? Math.ceil(((window + 1) * WINDOW_MS - nowMs) / 1_000) : 0
    },
    count(network, nowMs) {
      const now = countsAt(nowMs)
      now.set(network, (now.get(network) ?? 0) + 1)
      return () => void now.set(network, (now.get(network) ?? 0) - 1)
    },
  }
}
