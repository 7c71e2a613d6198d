import {
  computeMaxChainMs,
  computeUsualSilenceMs,
  DOUBT_RECHECK_DELAY_MS,
  sumRecheckDelaysMs,
} from '../../../../shared/checks/rechecks.ts'
import type { StoredMonitor } from '../types.ts'

/**
 * How a target fails. `refused`: the connection is refused or reset immediately. `wrong`: a quick answer with the wrong
 * status or content. `slow`: a wrong answer just before the timeout. `hanging`: no answer, after quick answers.
 */
export const FAILURE_MODES = ['refused', 'wrong', 'slow', 'hanging'] as const
export type FailureMode = (typeof FAILURE_MODES)[number]

/** The limits for one failure mode, in ms from the beginning of the outage. */
type DetectionLimits = {
  kind: FailureMode
  /** until the monitor is `down` */
  transitionMs: number
  /** until the first alert was sent */
  messageMs: number
  /** every outage that lasts at least this long is noticed */
  shortestMs: number
}

/** The settings on which the guarantee depends. `timeoutMs` is at most the interval. */
export type CheckPace = { intervalMs: number; timeoutMs: number; retryCount: number }

export const getCheckPace = (
  monitor: Pick<StoredMonitor, 'intervalSeconds' | 'timeoutMs' | 'retryCount'>,
): CheckPace => ({
  intervalMs: monitor.intervalSeconds * 1_000,
  timeoutMs: getEffectiveTimeoutMs(monitor),
  retryCount: monitor.retryCount,
})

/** The timeout of a check in milliseconds, at most the interval. */
export function getEffectiveTimeoutMs(monitor: Pick<StoredMonitor, 'timeoutMs' | 'intervalSeconds'>): number {
  return Math.min(monitor.timeoutMs, monitor.intervalSeconds * 1_000)
}

/** The longest time by which a probe starts a check late, in ms. */
const MAX_START_DELAY_MS = 1_000
/** The longest time from the end of the deciding check, through NATS and the verdict, to the committed transition, in ms. */
const MAX_DECISION_DELAY_MS = 2_000
/** The longest time from the transition to the first attempt of its first delivery, in ms. */
const MAX_MESSAGE_DELAY_MS = 2_000

/** The time after which a region without a probe that can publish has no vote and is not waited for, in ms. */
export const REGION_ABSENCE_TIMEOUT_MS = 20_000

/**
 * Computes the longest time from the beginning of an outage to its transition and its first message, for a monitor that
 * was up (docs/design/monitors.md#guarantee). In the worst case the target fails just after a check, so the next check
 * begins an interval later, and its re-checks follow. More regions do not make it longer, because each has its slot within
 * the interval. It holds while NATS, PostgreSQL, the control plane and the probe that checks the monitor work, and for alerts
 * that no rule delays.
 * While a region loses its probes, add `REGION_ABSENCE_TIMEOUT_MS`.
 */
export function computeDetectionLimits(pace: CheckPace): DetectionLimits[] {
  return FAILURE_MODES.map(kind => {
    const untilLastEnds = computeNextCheckDelayMs(kind, pace) + MAX_START_DELAY_MS + computeChainMs(kind, pace)
    const transitionMs = untilLastEnds + MAX_DECISION_DELAY_MS
    return { kind, transitionMs, messageMs: transitionMs + MAX_MESSAGE_DELAY_MS, shortestMs: untilLastEnds }
  })
}

/**
 * Computes the longest time to the transition when many other hosts of the region begin to fail at the same time, and no
 * probe of another region reaches the target (docs/design/verdict.md). A single region waits for one more check of its
 * own. Several regions confirm each other; where only a majority of them fails, the limit is that of one region. Answers,
 * wrong or slow, are never in doubt.
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
 * The longest time from the last successful check to the next one. An answer that takes as long as the interval ends after
 * the next slot, so this slot is skipped.
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
      // its silence limit may have become the timeout, so attempts may not overlap
      return computeMaxChainMs(timeoutMs, retryCount)
    case 'hanging':
      return timeoutMs + retryCount * computeUsualSilenceMs(timeoutMs)
  }
}

/**
 * A fault of the installation. `probe_lost`: another probe of the region works. `acknowledgements_lost`: JetStream stores results
 * without an answer. `control_plane_lost`: of one process. `regions_lost`: no probe of some regions works until the verdict;
 * a shorter fault counts as `all_regions_lost`. `nats_or_postgresql_lost`: unavailable, or its clock was set.
 */
export const INSTALLATION_FAULTS = [
  'probe_lost',
  'acknowledgements_lost',
  'control_plane_lost',
  'regions_lost',
  'all_regions_lost',
  'nats_or_postgresql_lost',
] as const
type InstallationFault = (typeof INSTALLATION_FAULTS)[number]

/** What a fault adds to each limit, in ms. `addsDuration`: and as long as it lasts. */
type FaultDelay = { fault: InstallationFault; addedMs: number; addsDuration: boolean }

/** A check that a fault prevented is made after this time, or in the next slot. */
const MIN_FAULT_DELAY_MS = 30_000
/** A probe that takes over does not wait longer for the next slot. */
const MAX_TAKEOVER_DELAY_MS = 120_000
/** Another process of the control plane takes over within this time. */
const CONTROL_PLANE_DELAY_MS = 20_000

/** Computes what faults add to the limits (docs/design/guarantee.md#faults). Several faults add up. */
export function computeFaultDelays({ intervalMs }: Pick<CheckPace, 'intervalMs'>, regions: number): FaultDelay[] {
  const nextCheckMs = Math.max(MIN_FAULT_DELAY_MS, intervalMs)
  const takeoverMs = Math.min(MAX_TAKEOVER_DELAY_MS, nextCheckMs)
  const afterEndMs = MIN_FAULT_DELAY_MS + nextCheckMs
  const delays: FaultDelay[] = [
    { fault: 'probe_lost', addedMs: takeoverMs, addsDuration: false },
    { fault: 'acknowledgements_lost', addedMs: takeoverMs, addsDuration: false },
    { fault: 'control_plane_lost', addedMs: CONTROL_PLANE_DELAY_MS, addsDuration: false },
    { fault: 'regions_lost', addedMs: REGION_ABSENCE_TIMEOUT_MS, addsDuration: false },
    { fault: 'all_regions_lost', addedMs: afterEndMs, addsDuration: true },
    { fault: 'nats_or_postgresql_lost', addedMs: afterEndMs, addsDuration: true },
  ]
  return delays.filter(({ fault }) => regions > 1 || fault !== 'regions_lost')
}
