import type { VerdictStatus } from '../../../verdict/core/types.ts'
import { CANARY_INTERVAL_SECONDS, type CanaryOutage } from '../schedule.ts'

/** An alert that comes later than this after what it tells is late: two intervals, and time for re-checks and sending. */
const LATE_AFTER_SECONDS = 2 * CANARY_INTERVAL_SECONDS + 30

/** A transition: `at` when JetStream took the deciding result, `committedAt` when everybody could see it. */
export type CanaryTransition = { to: VerdictStatus; at: Date; committedAt: Date; firstFailureAt: Date | null }
/** An alert that the receiver got, once a delivery id. `at`: of the change that it tells. */
export type CanaryAlert = { event: string; at: Date; receivedAt: Date }

/** What is known of a canary from the start of a planned failure until it was settled, in the order of time. */
export type CanaryFacts = {
  /** it was not checked when the failure began, because somebody did not want it to */
  wasPaused: boolean
  /** its status was up when the failure began */
  wasUp: boolean
  changes: CanaryTransition[]
  alerts: CanaryAlert[]
}

/** From the planned moment of a turn to: the first result that showed it, the status, the alert at the receiver. */
export type DetectionStage = { turn: 'down' | 'up'; stage: 'result' | 'status' | 'alert'; seconds: number }

/**
 * `told` as it should be; `late`, an alert took over 90 s; `twice`, an alert came as two deliveries; `missed`, a status
 * or an alert did not come; `unmeasured`, the canary was paused.
 */
export const CANARY_OUTCOMES = ['told', 'late', 'twice', 'missed', 'unmeasured'] as const
export type CanaryOutcome = (typeof CANARY_OUTCOMES)[number]
export type OutageMeasurement = { outcome: CanaryOutcome; stages: DetectionStage[] }

/** What came of a planned failure. What happened after it was settled does not count, however late this is asked. */
export function measureOutage(outage: CanaryOutage, facts: CanaryFacts): OutageMeasurement {
  const changes = facts.changes.filter(({ committedAt }) => committedAt < outage.settledAt)
  if (facts.wasPaused || changes.some(({ to }) => to === null)) return { outcome: 'unmeasured', stages: [] }
  const alerts = facts.alerts.filter(({ receivedAt }) => receivedAt < outage.settledAt)
  const down = changes.find(({ to }) => to === 'down')
  if (!down) return { outcome: 'missed', stages: [] }
  const up = changes.findLast(({ to, at }) => to === 'up' && at >= down.at)
  const toldDown = alerts.filter(({ event }) => event === 'monitor.down')
  const toldUp = alerts.filter(({ event, at }) => event === 'monitor.up' && at >= down.at)
  const stages = [
    buildStage('down', 'result', outage.startedAt, down.firstFailureAt),
    buildStage('down', 'status', outage.startedAt, down.committedAt),
    buildStage('down', 'alert', outage.startedAt, toldDown[0]?.receivedAt),
    buildStage('up', 'status', outage.endedAt, up?.committedAt),
    buildStage('up', 'alert', outage.endedAt, toldUp[0]?.receivedAt),
  ].flat()
  return { outcome: pickOutcome(stages, Math.max(toldDown.length, toldUp.length)), stages }
}

function pickOutcome(stages: DetectionStage[], timesTold: number): CanaryOutcome {
  const isThere = (turn: DetectionStage['turn'], stage: DetectionStage['stage']) =>
    stages.some(one => one.turn === turn && one.stage === stage)
  if (!isThere('down', 'alert') || !isThere('up', 'status') || !isThere('up', 'alert')) return 'missed'
  if (timesTold > 1) return 'twice'
  return stages.some(({ stage, seconds }) => stage === 'alert' && seconds > LATE_AFTER_SECONDS) ? 'late' : 'told'
}

/** Clocks of two machines may differ a little: nothing comes before what caused it. */
function buildStage(
  turn: DetectionStage['turn'],
  stage: DetectionStage['stage'],
  from: Date,
  at: Date | null | undefined,
): DetectionStage[] {
  return at ? [{ turn, stage, seconds: Math.max(0, at.getTime() - from.getTime()) / 1_000 }] : []
}
