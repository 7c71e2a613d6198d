import { evaluate } from '../../../../../shared/assertions/evaluate.ts'
import type { Assertion } from '../../../../../shared/checks/check.ts'
import { FailureSource, Outcome, type Result, Trigger } from '../../../../../shared/checks/result.ts'
import type { SettingsChange } from './types.ts'

/** Whether a failed assertion of this type makes a check degraded. */
export const isDuration = ({ type }: Pick<Assertion, 'type'>): boolean =>
  type === 'response_time' || type.startsWith('phase.')

/**
 * A result as it would be with changed settings; the same object where nothing changes. null: the check would not have been
 * made, because its region is not used, or because it is a later re-check than the settings permit.
 */
export function changeAttempt(region: string, result: Result, change: SettingsChange): Result | null {
  const { regions, retryCount, timeoutMs, durations } = change
  if (result.trigger === Trigger.WITNESS) return result
  if (regions && !regions.includes(region)) return null
  const isLaterRecheck = result.trigger === Trigger.SLOT && retryCount !== undefined && result.attempt > retryCount + 1
  if (isLaterRecheck) return null
  const judged = durations ? judgeDurations(result, durations) : result
  return timeoutMs === undefined ? judged : limitTime(judged, timeoutMs)
}

/** Replaces the outcome of the assertions on times. Other failures stay. */
function judgeDurations(result: Result, durations: Assertion[]): Result {
  const { outcome, error, totalUs, timings, failedAssertions } = result
  const isAnswered = outcome === Outcome.UP || outcome === Outcome.DEGRADED
  const others = failedAssertions.filter(failed => !isDuration(failed))
  // a check may also be degraded by a picture of the page
  const isOtherwiseDegraded = outcome === Outcome.DEGRADED && failedAssertions.length === 0
  if (!isAnswered || error || !timings || others.length > 0 || isOtherwiseDegraded) return result
  const observation = { totalUs, timings, error: null, statusCode: null, headers: null, body: null }
  const { failed } = evaluate(durations, { ...observation, resolvedIp: null, certificate: null }, 0)
  const next = failed.length > 0 ? Outcome.DEGRADED : Outcome.UP
  return { ...result, outcome: next, failedAssertions: failed }
}

/** A check that took longer than the timeout is a failure without an answer. */
function limitTime(result: Result, timeoutMs: number): Result {
  const isOver = result.totalUs > timeoutMs * 1_000
  const isCounting = result.outcome === Outcome.UP || result.outcome === Outcome.DEGRADED
  const isFailure = result.outcome === Outcome.DOWN
  if (!isOver || !(isCounting || isFailure)) return result
  const error = { source: FailureSource.TARGET, code: 'timeout', message: `no answer within ${timeoutMs} ms` }
  return { ...result, outcome: Outcome.DOWN, statusCode: 0, error, failedAssertions: [] }
}
