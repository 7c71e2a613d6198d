import type { Result } from '../../proto/gen/probe/v1/result.ts'

/** On a busy machine, the end of a longer check may be noticed only after the next slot. */
const LONG_CHECK_MS = 500

const endOf = ({ startedAtMs, totalUs }: Result) => startedAtMs + totalUs / 1_000

/**
 * Whether no slot of a monitor was missed; its results are in the order of their slots. A check that still runs when
 * a slot begins also covers that slot.
 */
export function isUnbroken(results: readonly Result[], intervalMs = 1_000): boolean {
  return results.slice(1).every((result, i) => {
    const before = results[i]!
    const gapMs = result.scheduledAtMs - before.scheduledAtMs
    if (gapMs === intervalMs) return true
    const skippedMs = result.scheduledAtMs - intervalMs
    return gapMs > 0 && gapMs % intervalMs === 0 && skippedMs <= endOf(before) + LONG_CHECK_MS
  })
}
