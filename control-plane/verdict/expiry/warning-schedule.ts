const DAY_MS = 86_400_000

/** How many days before the end warnings are sent, once each per certificate or registration. */
const WARNING_DAYS = [30, 14, 7, 3, 1] as const

type WarningCheck = {
  /** the threshold to warn about now; null: none */
  warn: number | null
  /** when the next threshold is reached; null after the last one */
  nextLookAt: Date | null
}

/**
 * The warning that is due for an end at `expiresAt`. `warnedDays` is the lowest threshold that was sent (null: none).
 * Of several thresholds that are reached, only the nearest to the end is sent. An end in the past counts as the last
 * threshold.
 */
export function checkWarnings(expiresAt: Date, warnedDays: number | null, now: Date): WarningCheck {
  const leftMs = expiresAt.getTime() - now.getTime()
  const reached = WARNING_DAYS.findLast(days => leftMs <= days * DAY_MS) ?? null
  const next = WARNING_DAYS.find(days => leftMs > days * DAY_MS)
  return {
    warn: reached !== null && (warnedDays === null || reached < warnedDays) ? reached : null,
    nextLookAt: next === undefined ? null : new Date(expiresAt.getTime() - next * DAY_MS),
  }
}

/** Days left, rounded up, so that a warning in time shows its threshold; 0 or less: expired. */
export function computeDaysLeft(expiresAt: Date, now: Date): number {
  const days = Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS)
  return days === 0 ? 0 : days
}
