import {
  type CheckPace,
  computeDetectionLimits,
  type FailureMode,
} from '../../../monitoring/monitors/settings/guarantee.ts'
import { CANARY_INTERVAL_SECONDS, type CanaryOutage, type CanarySchedule, type FailureKind } from '../schedule.ts'
import type { DetectionStage, OutageMeasurement } from './measure.ts'

/** The guaranteed limits of a planned failure, in seconds from its start. */
export type CanaryLimits = { downWithin: number; messageWithin: number; shortest: number }

const OUTAGE_KIND_BY_FAILURE: Record<FailureKind, FailureMode> = {
  status: 'wrong',
  wrong: 'wrong',
  refuse: 'refused',
  slow: 'slow',
  hang: 'hanging',
}

/** The limits that the settings of a canary's monitor guarantee for one kind of failure. */
export function computeCanaryLimits(
  kind: FailureKind,
  schedule: Omit<CanarySchedule, 'region'>,
  pace: CheckPace,
): CanaryLimits {
  const mode = kind === 'hang' && followsSlowAnswers(schedule) ? 'slow' : OUTAGE_KIND_BY_FAILURE[kind]
  const { transitionMs, messageMs, shortestMs } = computeDetectionLimits(pace).find(one => one.kind === mode)!
  return { downWithin: transitionMs / 1_000, messageWithin: messageMs / 1_000, shortest: shortestMs / 1_000 }
}

/**
 * Probes wait longer for a target that was slow in one of its last responses
 * (probe-agent/schedule/rechecks/silence-limit.ts).
 */
const SLOW_MEMORY_ANSWERS = 100

/**
 * Whether a failure that hangs can begin while probes still remember the last slow one. Then attempts may not overlap,
 * and the limits of a slow target are guaranteed.
 */
function followsSlowAnswers({ kinds, everySeconds, forSeconds }: Omit<CanarySchedule, 'region'>): boolean {
  const [slow, hang] = [kinds.indexOf('slow'), kinds.indexOf('hang')]
  if (slow === -1 || hang === -1) return false
  const steps = (hang - slow + kinds.length) % kinds.length
  const between = Array.from({ length: steps - 1 }, (_, i) => kinds[(slow + 1 + i) % kinds.length])
  // a closed connection may count as no response, and each failure begins up to an interval late
  const withoutAnswers = between.filter(kind => kind === 'refuse').length * forSeconds
  const quickSeconds = steps * everySeconds - forSeconds - withoutAnswers - CANARY_INTERVAL_SECONDS
  return quickSeconds / CANARY_INTERVAL_SECONDS < SLOW_MEMORY_ANSWERS
}

/**
 * `kept`: detected and reported within the limits. `missed`: later, or never. `none`: nothing was guaranteed, because
 * the canary was paused or not up when the failure began, or the failure was too short
 * (docs/design/history.md#guarantee).
 */
export const GUARANTEE_RESULTS = ['kept', 'missed', 'none'] as const
type GuaranteeResult = (typeof GUARANTEE_RESULTS)[number]

/**
 * `lateSeconds`: how much later than guaranteed a miss was reported; null when it was not detected or no alert arrived.
 */
export type GuaranteeComparison = { guarantee: GuaranteeResult; lateSeconds: number | null }

/** Compares a planned failure with its limits. `wasUp`: the canary's status when the failure began. */
export function compareWithLimits(
  outage: Pick<CanaryOutage, 'startedAt' | 'endedAt'>,
  { outcome, stages }: OutageMeasurement,
  limits: CanaryLimits,
  wasUp: boolean,
): GuaranteeComparison {
  if (outcome === 'unmeasured' || !wasUp) return { guarantee: 'none', lateSeconds: null }
  const down = findStageSeconds('status', stages)
  const message = findStageSeconds('alert', stages)
  if (down === null || message === null) {
    const lastedSeconds = (outage.endedAt.getTime() - outage.startedAt.getTime()) / 1_000
    const wasTooShort = down === null && lastedSeconds < limits.shortest
    return { guarantee: wasTooShort ? 'none' : 'missed', lateSeconds: null }
  }
  const lateSeconds = Math.max(down - limits.downWithin, message - limits.messageWithin)
  return lateSeconds > 0 ? { guarantee: 'missed', lateSeconds } : { guarantee: 'kept', lateSeconds: null }
}

const findStageSeconds = (wanted: DetectionStage['stage'], stages: DetectionStage[]): number | null =>
  stages.find(({ turn, stage }) => turn === 'down' && stage === wanted)?.seconds ?? null
