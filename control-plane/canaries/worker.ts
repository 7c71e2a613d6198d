import { now, nowMs } from '../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { GUARANTEES } from './guarantee.ts'
import { OUTCOMES } from './measure.ts'
import { measureOutages } from './measure-actions.ts'
import { type CanaryMeters, canaryMeters } from './meters.ts'
import { allCanaries, type Canary, type Judged, pruneCanaries } from './store.ts'

const EVERY_MS = 5_000
const KEPT_MS = 30 * 24 * 3_600_000

/** Measures each planned failure once it is settled. Any number of processes may look: each failure is told by one. */
export function startCanaryWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  const meters = canaryMeters(tools.metrics)
  return startLoop('canaries', EVERY_MS, tools, async () => {
    const canaries = await allCanaries(db)
    for (const canary of canaries) show(canary, meters)
    const judged = await measureOutages(db, canaries, now())
    for (const one of judged) report(one, meters, tools)
    if (judged.length > 0) await pruneCanaries(db, new Date(nowMs() - KEPT_MS))
  })
}

/** A counter that is first seen at 1 has not grown for Prometheus, so all of them are there from the start. */
function show({ region, kinds }: Canary, { outages, guarantees }: CanaryMeters): void {
  for (const kind of kinds) {
    for (const outcome of OUTCOMES) outages.inc({ region, kind, outcome }, 0)
    for (const guarantee of GUARANTEES) guarantees.inc({ region, kind, guarantee }, 0)
  }
}

function report(judged: Judged, meters: CanaryMeters, { log }: LoopTools): void {
  const { region, kind, outcome, stages, startedAt, guarantee, limits, lateSeconds } = judged
  meters.outages.inc({ region, kind, outcome })
  meters.guarantees.inc({ region, kind, guarantee })
  for (const { turn, stage, seconds } of stages) meters.detection.observe({ region, kind, turn, stage }, seconds)
  const compared = { guarantee, down_within: limits.downWithin, message_within: limits.messageWithin }
  const line = { event: 'canary', region, kind, outcome, started_at: startedAt, stages, ...compared }
  if (guarantee === 'missed') {
    log.warn({ ...line, late_seconds: lateSeconds }, 'a planned failure was reported later than guaranteed, or never')
  } else if (outcome === 'told' || outcome === 'unmeasured') log.info(line, 'a planned failure was measured')
  else log.warn(line, 'a planned failure was not told as it should be')
}
