const DAY_MS = 86_400_000

/** How many days before the end a warning is sent, once each per certificate or registration (decisions 4.10). */
export const WARNING_DAYS = [30, 14, 7, 3, 1] as const

export type WarningCheck = {
  /** the threshold to warn of now; null: nothing new */
  warn: number | null
  /** when the next threshold is reached; null after the last one */
  nextLookAt: Date | null
}

/**
 * What is due for something that ends at `expiresAt`, when `warnedDays` is the lowest threshold already told of (null:
 * none). Of several thresholds reached at once only the nearest to the end is told; what has ended already counts as
 * the last one.
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

/** Days left, a begun one counted in full, so that a warning on time says its threshold; 0 or less: it has ended. */
export function computeDaysLeft(expiresAt: Date, now: Date): number {
  const days = Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS)
  return days === 0 ? 0 : days
}
