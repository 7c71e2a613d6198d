import { type Assignment, RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import { ScreenshotKind } from '../../proto/gen/probe/v1/screenshot.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { Outcome, type Result } from '../../shared/checks/result.ts'

/** The end of a chain: the region's state before and after, and the last attempt. */
export type RecheckChainEnd = { before: RegionState; after: RegionState; result: Result }

/**
 * Whether the end of a chain requires a screenshot: a failure when it made the region failing, so once per outage and
 * region; a comparison of a page that is up when the last one is at least `compareEveryMs` old.
 */
export function decideCapture(
  { before, after, result }: RecheckChainEnd,
  spec: CheckSpec,
  sinceComparisonMs: number,
  compareEveryMs: number,
): ScreenshotKind | null {
  if (!isVisibleToBrowser(spec)) return null
  const isOutage = after === RegionState.FAILING && before !== RegionState.FAILING && result.outcome === Outcome.DOWN
  if (spec.screenshotOnFailure && isOutage) return ScreenshotKind.FAILURE
  const isUp = result.outcome === Outcome.UP || result.outcome === Outcome.DEGRADED
  return spec.screenshotCompare && isUp && sinceComparisonMs >= compareEveryMs ? ScreenshotKind.COMPARISON : null
}

/** A browser sends GET, so it cannot show the answer to another method. */
function isVisibleToBrowser({ type, method }: CheckSpec): boolean {
  return (type === 'http' || type === 'keyword') && (method === 'GET' || method === 'HEAD')
}

/** A comparison may be late by a full queue, and one that fails is repeated after the next interval. */
const VALID_INTERVALS = 4
const MIN_VALID_SECONDS = 600

/** How long the difference of a comparison counts. A page is compared after a check, so not more often than it is checked. */
export const computeValidSeconds = (compareEveryMs: number, intervalS: number): number =>
  Math.max(MIN_VALID_SECONDS, VALID_INTERVALS * Math.max(Math.ceil(compareEveryMs / 1_000), intervalS))

/**
 * Applies the last comparison of the page with its baseline to a result, unless it has expired: a check that is up becomes
 * degraded while more than `screenshot_threshold` of the pixels differ.
 */
export function applyComparison(assignment: Assignment, result: Result): Result {
  const {
    spec,
    screenshotDifference: difference,
    screenshotValidUntilMs: untilMs = Number.POSITIVE_INFINITY,
  } = assignment
  const isGood = result.outcome === Outcome.UP || result.outcome === Outcome.DEGRADED
  if (!spec?.screenshotCompare || !isGood || difference === undefined) return result
  if (difference <= spec.screenshotThreshold || result.startedAtMs > untilMs) return result
  const failed = {
    type: 'screenshot',
    operator: 'less_than',
    value: String(spec.screenshotThreshold),
    actual: difference.toFixed(4),
  }
  return { ...result, outcome: Outcome.DEGRADED, failedAssertions: [...result.failedAssertions, failed] }
}
