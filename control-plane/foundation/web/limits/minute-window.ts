const WINDOW_MS = 60_000

/** Counts by key for the current minute of the clock. */
type MinuteWindow = {
  /** the counts of the minute; those of the previous one are dropped */
  countsAt(nowMs: number): Map<string, number>
  /** until the next minute, at least 1 */
  secondsLeft(nowMs: number): number
}

/** Counts by key in windows of the clock's minutes. Only keys of this minute are stored. */
export function createMinuteWindow(): MinuteWindow {
  let window = 0
  let counts = new Map<string, number>()
  return {
    countsAt(nowMs) {
      const current = Math.floor(nowMs / WINDOW_MS)
      if (current !== window) counts = new Map()
      window = current
      return counts
    },
    secondsLeft: nowMs => Math.ceil((WINDOW_MS - (nowMs % WINDOW_MS)) / 1_000),
  }
}
