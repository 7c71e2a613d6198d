import type { VerdictStatus } from '../../../verdict/core/types.ts'
import { CANARY_INTERVAL_SECONDS, type CanaryOutage } from '../schedule.ts'

/** An alert with a longer delay is late: two intervals, and time for re-checks and sending. */
const LATE_AFTER_SECONDS = 2 * CANARY_INTERVAL_SECONDS + 30

/** A transition. `at`: when JetStream stored the deciding result. `committedAt`: when the transition was visible. */
export type CanaryTransition = { to: VerdictStatus; at: Date; committedAt: Date; firstFailureAt: Date | null }
/** An alert at the receiver, once per delivery id. `at`: the time of the reported change. */
export type CanaryAlert = { event: string; at: Date; receivedAt: Date }

/** Data about a canary from the start of a planned failure until its measurement, in order of time. */
export type CanaryFacts = {
  /** the canary was paused when the failure began */
  wasPaused: boolean
  /** its status was up when the failure began */
  wasUp: boolean
  changes: CanaryTransition[]
  alerts: CanaryAlert[]
}

/** Seconds from the planned time of a turn to the first result, to the status, or to the alert at the receiver. */
export type DetectionStage = { turn: 'down' | 'up'; stage: 'result' | 'status' | 'alert'; seconds: number }

/**
 * `reported`: down and recovery were reported. `late`: an alert took over 90 s. `twice`: an alert had two delivery ids.
 * `missed`: a status or an alert did not arrive. `unmeasured`: the canary was paused.
 */
export const CANARY_OUTCOMES = ['reported', 'late', 'twice', 'missed', 'unmeasured'] as const
export type CanaryOutcome = (typeof CANARY_OUTCOMES)[number]
export type OutageMeasurement = { outcome: CanaryOutcome; stages: DetectionStage[] }

/**
 * Measures a planned failure. Events after `settledAt` do not count, so the result does not depend on the time of the
 * call.
 */
export function measureOutage(outage: CanaryOutage, facts: CanaryFacts): OutageMeasurement {
  const changes = facts.changes.filter(({ committedAt }) => committedAt < outage.settledAt)
  if (facts.wasPaused || changes.some(({ to }) => to === null)) return { outcome: 'unmeasured', stages: [] }
  const alerts = facts.alerts.filter(({ receivedAt }) => receivedAt < outage.settledAt)
  const down = changes.find(({ to }) => to === 'down')
  if (!down) return { outcome: 'missed', stages: [] }
  const up = changes.findLast(({ to, at }) => to === 'up' && at >= down.at)
  const downAlerts = alerts.filter(({ event }) => event === 'monitor.down')
  const upAlerts = alerts.filter(({ event, at }) => event === 'monitor.up' && at >= down.at)
  const stages = [
    buildStage('down', 'result', outage.startedAt, down.firstFailureAt),
    buildStage('down', 'status', outage.startedAt, down.committedAt),
    buildStage('down', 'alert', outage.startedAt, downAlerts[0]?.receivedAt),
    buildStage('up', 'status', outage.endedAt, up?.committedAt),
    buildStage('up', 'alert', outage.endedAt, upAlerts[0]?.receivedAt),
  ].flat()
  return { outcome: pickOutcome(stages, Math.max(downAlerts.length, upAlerts.length)), stages }
}

function pickOutcome(stages: DetectionStage[], alertCount: number): CanaryOutcome {
  const hasStage = (turn: DetectionStage['turn'], stage: DetectionStage['stage']) =>
    stages.some(one => one.turn === turn && one.stage === stage)
  if (!hasStage('down', 'alert') || !hasStage('up', 'status') || !hasStage('up', 'alert')) return 'missed'
  if (alertCount > 1) return 'twice'
  return stages.some(({ stage, seconds }) => stage === 'alert' && seconds > LATE_AFTER_SECONDS) ? 'late' : 'reported'
}

/** Clocks of two machines may differ, so a negative duration is 0. */
function buildStage(
  turn: DetectionStage['turn'],
  stage: DetectionStage['stage'],
  from: Date,
  at: Date | null | undefined,
): DetectionStage[] {
  return at ? [{ turn, stage, seconds: Math.max(0, at.getTime() - from.getTime()) / 1_000 }] : []
}
