/** Counts look-ups that found nothing, for each network and minute. */
type MissCounter = {
  /** how long a network must wait because of too many misses; 0: not at all */
  waitSeconds(network: string, nowMs: number): number
  /** Counts one miss. Returns a function that reverts it. */
  count(network: string, nowMs: number): () => void
}

const WINDOW_MS = 60_000

/** Allows `limit` misses a minute and network, in windows of the clock's minutes. Only networks of this minute are stored. */
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
