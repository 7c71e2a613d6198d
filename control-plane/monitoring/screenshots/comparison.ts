/** What is stored of the newest comparison of a region. Null: nothing yet, or a process of an earlier version wrote it. */
export type StoredComparison = {
  configVersion: number
  comparedAt: Date | null
  expiresAt: Date | null
  difference: number | null
}

/** The settings of a monitor for which a picture counts. */
export type PageSettings = {
  url: string
  configVersion: number
  /** the config version in which a browser was last sent something else, or the comparison started again */
  screenshotsSince: number
  threshold: number
}

const DEFAULT_VALID_SECONDS = 3_600
/** Four times the longest interval between two comparisons. */
const MAX_VALID_SECONDS = 4 * 86_400

/** True for a picture of settings that no longer apply. A probe of an earlier version does not send its settings. */
export const isOutdated = (pictured: number | undefined, { configVersion, screenshotsSince }: PageSettings): boolean =>
  pictured === undefined || pictured < screenshotsSince || pictured > configVersion

/** Returns until when the difference of a comparison counts, in whole ms since 1970. */
export const computeExpiry = (arrivedAtMs: number, validSeconds: number = DEFAULT_VALID_SECONDS): number =>
  Math.floor(arrivedAtMs) + Math.min(validSeconds, MAX_VALID_SECONDS) * 1_000

/**
 * Whether a difference counts. One above the threshold counts when the comparison before it also was above the threshold, with
 * the same settings and not too long ago: a single page may have been captured before it was loaded.
 */
export function isConfirmed(
  before: StoredComparison,
  difference: number,
  { threshold, screenshotsSince }: PageSettings,
  arrivedAtMs: number,
): boolean {
  if (difference <= threshold) return true
  return (
    before.difference !== null &&
    before.difference > threshold &&
    before.configVersion >= screenshotsSince &&
    before.expiresAt !== null &&
    before.expiresAt.getTime() > arrivedAtMs
  )
}
