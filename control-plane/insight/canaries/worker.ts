import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../foundation/platform/time/clock.ts'
import { ALIGNED, type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { GUARANTEE_RESULTS } from './measurement/guarantee.ts'
import { CANARY_OUTCOMES } from './measurement/measure.ts'
import { measureOutages } from './measurement/measure-actions.ts'
import { type CanaryMetrics, createCanaryMetrics } from './metrics.ts'
import { type Canary, hasCanaries, loadCanaries, type MeasuredOutage, pruneCanaryHistory } from './store.ts'

const INTERVAL_MS = 5_000
const RETENTION_MS = 30 * 24 * 3_600_000

/**
 * Measures each planned failure once it is settled. Any number of processes may run it: each failure is reported by
 * one.
 */
export function startCanaryWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  const metrics = createCanaryMetrics(tools.metrics)
  const round = async () => {
    if (!(await hasCanaries(db))) return
    const canaries = await loadCanaries(db)
    for (const canary of canaries) initializeMetrics(canary, metrics)
    const measured = await measureOutages(db, canaries, now())
    for (const one of measured) reportOutage(one, metrics, tools)
    if (measured.length > 0) await pruneCanaryHistory(db, new Date(nowMs() - RETENTION_MS))
  }
  return startLoop('canaries', INTERVAL_MS, tools, round, ALIGNED)
}

/** For Prometheus, a counter that first appears with 1 has not grown, so all of them start at 0. */
function initializeMetrics({ region, kinds }: Canary, { outages, guarantees }: CanaryMetrics): void {
  for (const kind of kinds) {
    for (const outcome of CANARY_OUTCOMES) outages.inc({ region, kind, outcome }, 0)
    for (const guarantee of GUARANTEE_RESULTS) guarantees.inc({ region, kind, guarantee }, 0)
  }
}

function reportOutage(measured: MeasuredOutage, metrics: CanaryMetrics, { log }: LoopTools): void {
  const { region, kind, outcome, stages, startedAt, guarantee, limits, lateSeconds } = measured
  metrics.outages.inc({ region, kind, outcome })
  metrics.guarantees.inc({ region, kind, guarantee })
  for (const { turn, stage, seconds } of stages) metrics.detection.observe({ region, kind, turn, stage }, seconds)
  const compared = { guarantee, down_within: limits.downWithin, message_within: limits.messageWithin }
  const line = { event: 'canary', region, kind, outcome, started_at: startedAt, stages, ...compared }
  if (guarantee === 'missed') {
    log.warn(
      { ...line, late_seconds: lateSeconds },
      'a planned failure was reported later than guaranteed, or not at all',
    )
  } else if (outcome === 'reported' || outcome === 'unmeasured') log.info(line, 'a planned failure was measured')
  else log.warn(line, 'a planned failure was not reported as expected')
}
