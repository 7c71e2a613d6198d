import type { Result } from '../../proto/gen/probe/v1/result.ts'

/** The end of a check that lasts longer than this may be noticed, on a busy machine, only after the next slot. */
const LONG_CHECK_MS = 500

const getEndMs = ({ startedAtMs, totalUs }: Result) => startedAtMs + totalUs / 1_000

/**
 * Whether no slot of a monitor is missing. Its results are in the order of their slots. A check that is still running at the
 * time of a slot covers that slot.
 */
export function isUnbroken(results: readonly Result[], intervalMs = 1_000): boolean {
  return results.slice(1).every((result, i) => {
    const before = results[i]!
    const gapMs = result.scheduledAtMs - before.scheduledAtMs
    if (gapMs === intervalMs) return true
    const skippedMs = result.scheduledAtMs - intervalMs
    return gapMs > 0 && gapMs % intervalMs === 0 && skippedMs <= getEndMs(before) + LONG_CHECK_MS
  })
}
