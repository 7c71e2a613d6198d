import { createMinuteWindow } from './minute-window.ts'

/** Counts look-ups that found nothing, for each network and minute. */
type MissCounter = {
  /** how long a network must wait because of too many misses; 0: not at all */
  waitSeconds(network: string, nowMs: number): number
  /** Counts one miss. Returns a function that reverts it. */
  count(network: string, nowMs: number): () => void
}

/** Allows `limit` misses a minute and network, in windows of the clock's minutes. */
export function createMissCounter(limit: number): MissCounter {
  const window = createMinuteWindow()
  return {
    waitSeconds(network, nowMs) {
      const isOver = (window.countsAt(nowMs).get(network) ?? 0) >= limit
      return isOver ? window.secondsLeft(nowMs) : 0
    },
    count(network, nowMs) {
      const counts = window.countsAt(nowMs)
      counts.set(network, (counts.get(network) ?? 0) + 1)
      return () => void counts.set(network, (counts.get(network) ?? 0) - 1)
    },
  }
}
