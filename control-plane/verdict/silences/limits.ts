import type { ErrorDetail } from '../../foundation/web/server/errors.ts'

/** How far ahead a silence may end. */
export const MAX_SILENCE_DAYS = 90
/** Monitors of one silence. */
export const MAX_SILENCED_MONITORS = 1_000
/** Silences of a project that are in force at the same time. */
export const MAX_ACTIVE_SILENCES = 100

const DAY_MS = 24 * 3_600_000

/** The errors in the end of a silence that is created at `now`. `path`: the field, as in `until`. */
export function validateSilenceEnd(path: string, until: Date, now: Date): ErrorDetail[] {
  const aheadMs = until.getTime() - now.getTime()
  if (aheadMs <= 0) return [{ path, message: `${path} must be in the future` }]
  if (aheadMs > MAX_SILENCE_DAYS * DAY_MS)
    return [{ path, message: `${path} must be at most ${MAX_SILENCE_DAYS} days ahead` }]
  return []
}
