import {
  type CheckPace,
  computeDetectionLimits,
  type FailureMode,
} from '../../../monitoring/monitors/settings/guarantee.ts'
import { CANARY_INTERVAL_SECONDS, type CanaryOutage, type CanarySchedule, type FailureKind } from '../schedule.ts'
import type { DetectionStage, OutageMeasurement } from './measure.ts'

/** What is guaranteed for a planned failure, in seconds from its beginning. */
export type CanaryLimits = { downWithin: number; messageWithin: number; shortest: number }

const OUTAGE_KIND_BY_FAILURE: Record<FailureKind, FailureMode> = {
  status: 'wrong',
  wrong: 'wrong',
  refuse: 'refused',
  slow: 'slow',
  hang: 'hanging',
}

/** What the settings of a canary's monitor guarantee for one kind of its failures. */
export function computeCanaryLimits(
  kind: FailureKind,
  schedule: Omit<CanarySchedule, 'region'>,
  pace: CheckPace,
): CanaryLimits {
  const wanted = kind === 'hang' && followsSlowAnswers(schedule) ? 'slow' : OUTAGE_KIND_BY_FAILURE[kind]
  const { transitionMs, messageMs, shortestMs } = computeDetectionLimits(pace).find(one => one.kind === wanted)!
  return { downWithin: transitionMs / 1_000, messageWithin: messageMs / 1_000, shortest: shortestMs / 1_000 }
}

/** Probes wait longer for a target that was slow within so many of its answers (probe-agent/schedule/rechecks/silence-limit.ts). */
const SLOW_MEMORY_ANSWERS = 100

/**
 * Whether a failure that hangs can come while probes still know the last slow one. Then their attempts may not overlap,
 * and the limit of a slow target is what is guaranteed.
 */
function followsSlowAnswers({ kinds, everySeconds, forSeconds }: Omit<CanarySchedule, 'region'>): boolean {
  const [slow, hang] = [kinds.indexOf('slow'), kinds.indexOf('hang')]
  if (slow === -1 || hang === -1) return false
  const turns = (hang - slow + kinds.length) % kinds.length
  const between = Array.from({ length: turns - 1 }, (_, i) => kinds[(slow + 1 + i) % kinds.length])
  // a connection that is cut may count as a missing answer, and each failure begins up to an interval late
  const withoutAnswers = between.filter(kind => kind === 'refuse').length * forSeconds
  const quickSeconds = turns * everySeconds - forSeconds - withoutAnswers - CANARY_INTERVAL_SECONDS
  return quickSeconds / CANARY_INTERVAL_SECONDS < SLOW_MEMORY_ANSWERS
}

/**
 * `kept`: noticed and reported within the limits. `missed`: later, or never. `none`: nothing was guaranteed, because the
 * canary was paused or not up when the failure began, or because the failure was too short to be noticed always.
 */
export const GUARANTEE_RESULTS = ['kept', 'missed', 'none'] as const
export type GuaranteeResult = (typeof GUARANTEE_RESULTS)[number]

/** `lateSeconds`: of a miss, how much later than guaranteed; null when it was not noticed or no alert arrived. */
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
