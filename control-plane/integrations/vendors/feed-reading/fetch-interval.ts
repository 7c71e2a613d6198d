const MAX_WAIT_MS = 900_000

/** Computes the next fetch. After consecutive failures the interval doubles, up to 15 minutes, with 10 % jitter. */
export function computeNextFetchAt(
  failures: number,
  intervalMs: number,
  from: Date,
  jitterMs: (ms: number) => number,
): Date {
  if (failures === 0) return new Date(from.getTime() + intervalMs)
  const waitMs = Math.min(Math.max(MAX_WAIT_MS, intervalMs), intervalMs * 2 ** Math.min(failures - 1, 10))
  return new Date(from.getTime() + waitMs + jitterMs(waitMs / 10))
}
