const DAY_MS = 86_400_000
const FIRST_RETRY_MS = 900_000

/**
 * The next look-up: after a day, or after consecutive failures 15 min, 30 min, 1 h, up to a day; plus up to a tenth.
 */
export function computeNextLookup(failures: number, now: Date, jitterMs: (ms: number) => number): Date {
  const ms = failures === 0 ? DAY_MS : Math.min(DAY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10))
  return new Date(now.getTime() + ms + jitterMs(ms / 10))
}
