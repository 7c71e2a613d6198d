import {
  computeUsualSilenceMs,
  DOUBT_RECHECK_DELAY_MS,
  sumRecheckDelaysMs,
} from '../../../../shared/checks/rechecks.ts'
import { getEffectiveTimeoutMs } from '../check-spec.ts'
import type { StoredMonitor } from '../types.ts'

/**
 * How a target fails. `refused`: the connection is refused or reset at once. `wrong`: it answers at once, with the wrong
 * status or content. `slow`: it answers wrongly, just before the timeout. `hanging`: it gives no answer, after answers that were quick.
 */
export const FAILURE_MODES = ['refused', 'wrong', 'slow', 'hanging'] as const
export type FailureMode = (typeof FAILURE_MODES)[number]

/** Limits for one kind of outage, in ms from its beginning. */
export type DetectionLimits = {
  kind: FailureMode
  /** the monitor is `down` by then */
  transitionMs: number
  /** the first alert has left by then */
  messageMs: number
  /** each outage that lasts so long is noticed */
  shortestMs: number
}

/** What of a monitor's settings the guarantee depends on. `timeoutMs`: at most the interval. */
export type CheckPace = { intervalMs: number; timeoutMs: number; retryCount: number }

export const getCheckPace = (
  monitor: Pick<StoredMonitor, 'intervalSeconds' | 'timeoutMs' | 'retryCount'>,
): CheckPace => ({
  intervalMs: monitor.intervalSeconds * 1_000,
  timeoutMs: getEffectiveTimeoutMs(monitor),
  retryCount: monitor.retryCount,
})

/** A probe starts a check at most so much after its time, in ms. */
const MAX_START_DELAY_MS = 1_000
/** From the end of the deciding check, through NATS and the verdict, to the committed transition, in ms. */
const MAX_DECISION_DELAY_MS = 2_000
/** From the transition to the first attempt of its first delivery, in ms. */
const MAX_MESSAGE_DELAY_MS = 2_000

/** After so long a region without a probe that can publish has no vote and is not waited for (decision 195), in ms. */
export const REGION_ABSENCE_TIMEOUT_MS = 20_000

/**
 * The longest time from the beginning of an outage to its transition and its first message, for a monitor that was up:
 * the target fails just after a check, so that the next one comes an interval later, and its re-checks follow. More regions
 * make it no longer, because each has its slot within the interval. It holds while NATS, PostgreSQL and one probe in each
 * region work, and for alerts that no rule delays. While a region loses its probes, `ABSENCE_MS` has to be added.
 */
export function computeDetectionLimits(pace: CheckPace): DetectionLimits[] {
  return FAILURE_MODES.map(kind => {
    const untilLastEnds = computeNextCheckDelayMs(kind, pace) + MAX_START_DELAY_MS + computeChainMs(kind, pace)
    const transitionMs = untilLastEnds + MAX_DECISION_DELAY_MS
    return { kind, transitionMs, messageMs: transitionMs + MAX_MESSAGE_DELAY_MS, shortestMs: untilLastEnds }
  })
}

/**
 * The longest time to the transition where many other hosts of the region begin to fail at the same time, and no probe of
 * another region sees the target well (decision 197). A region that is alone waits for one more check of its own; with several
 * regions one confirms the other. Answers, wrong or slow, are never doubted.
 */
export function computeTransitionInDoubtMs(kind: FailureMode, pace: CheckPace, regions: number): number {
  const { intervalMs, timeoutMs } = pace
  const { transitionMs } = computeDetectionLimits(pace).find(one => one.kind === kind)!
  if (regions > 1 || kind === 'wrong' || kind === 'slow') return transitionMs
  const chainEndsMs = MAX_START_DELAY_MS + computeChainMs(kind, pace)
  const nextSlotMs = (Math.floor(chainEndsMs / intervalMs) + 1) * intervalMs
  const nextCheckMs = Math.min(nextSlotMs, chainEndsMs + DOUBT_RECHECK_DELAY_MS) + MAX_START_DELAY_MS
  const attemptMs = kind === 'hanging' ? timeoutMs : 0
  return computeNextCheckDelayMs(kind, pace) + nextCheckMs + attemptMs + MAX_DECISION_DELAY_MS
}

/**
 * From a check that saw the target well to the next one. An answer that takes as long as the interval ends after the next
 * slot, which is lost by that.
 */
function computeNextCheckDelayMs(kind: FailureMode, { intervalMs, timeoutMs }: CheckPace): number {
  return kind === 'slow' && timeoutMs + MAX_START_DELAY_MS > intervalMs ? 2 * intervalMs : intervalMs
}

/** The longest time from the start of the first attempt to the end of the last one. */
function computeChainMs(kind: FailureMode, { timeoutMs, retryCount }: CheckPace): number {
  const waitsMs = sumRecheckDelaysMs(retryCount)
  switch (kind) {
    case 'refused':
    case 'wrong':
      return waitsMs
    case 'slow':
      // its silence limit may have become the timeout, so that attempts do not overlap
      return (retryCount + 1) * timeoutMs + waitsMs
    case 'hanging':
      return timeoutMs + retryCount * computeUsualSilenceMs(timeoutMs)
  }
}
