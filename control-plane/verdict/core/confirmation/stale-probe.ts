import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import type { Policy, RegionTally, VerdictResult } from '../types.ts'

/**
 * Whether the attempts of a probe show that it has an old state of its region, because a hint was lost or its results
 * came too late: it re-checks a failure of a failing region, or it did not re-check the failure before.
 */
export function hasStaleRegionState(before: RegionTally, result: VerdictResult, { retryCount }: Policy): boolean {
  if (result.outcome !== Outcome.DOWN || retryCount === 0) return false
  const { fence } = before
  if (before.state === 'failing') return result.attempt > 1 && before.better === 0
  return (
    before.failures > 0 && fence.attempt === 1 && result.attempt === 1 && result.scheduledAtMs > fence.scheduledAtMs
  )
}
