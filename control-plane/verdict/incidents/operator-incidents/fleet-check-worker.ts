import type { Log } from '../../../../shared/process/log.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, now } from '../../../foundation/platform/time/clock.ts'
import { ALIGNED, type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { pruneDisagreements } from '../../../monitoring/fleet/probes/drain-store.ts'
import { checkFleetIfNeeded } from './fleet-check-actions.ts'
import { type FleetReport, isRegionInUse, type RegionHealth } from './fleet-problems.ts'

const CHECK_INTERVAL_MS = 10_000
/** Disagreements are kept for a day. */
const PRUNE_INTERVAL_MS = 60_000
/** After a longer gap between two rounds, the time before is unknown. */
const MAX_GAP_MS = 60_000

/**
 * Drains probes that disagree often, and reports problems of the fleet by incidents of the operator project, log lines
 * and gauges. Any number of processes may run it. Without an operator project, only the log and the gauges report
 * problems.
 */
export function startFleetCheckWorker(context: LoopTools & { db: Db; publicUrl: string }): Loop {
  const { db, publicUrl } = context
  const setGauges = createGauges(context.metrics)
  const logProblems = createProblemLogger(context.log)
  let sinceMs = monotonicMs()
  let lastMs = sinceMs
  let prunedMs = Number.NEGATIVE_INFINITY
  const round = async () => {
    const startedMs = monotonicMs()
    if (startedMs - lastMs > MAX_GAP_MS) sinceMs = startedMs
    if (startedMs - prunedMs > PRUNE_INTERVAL_MS) {
      await pruneDisagreements(db)
      prunedMs = startedMs
    }
    const seen = await checkFleetIfNeeded(db, publicUrl, startedMs - sinceMs, now())
    lastMs = monotonicMs()
    setGauges(seen.regions)
    logProblems(seen)
  }
  return startLoop('fleet_watch', CHECK_INTERVAL_MS, context, round, ALIGNED)
}

function createGauges(metrics: Metrics): (regions: RegionHealth[]) => void {
  const live = metrics.gauge('picket_region_live_probes', 'Live probes of regions that are in use', ['region'])
  const drained = metrics.gauge('picket_region_drained_probes', 'Probes that are drained because they disagree often', [
    'region',
  ])
  return regions => {
    live.reset()
    for (const seen of regions) {
      if (isRegionInUse(seen)) live.set({ region: seen.region }, seen.liveProbes)
      drained.set({ region: seen.region }, seen.drainedProbes)
    }
  }
}

/** Logs each problem when it begins and when it ends. */
function createProblemLogger(log: Log): (found: FleetReport) => void {
  const logged = new Set<string>()
  return ({ problems, recoveries }) => {
    for (const { subject, title, message } of problems) {
      if (!logged.has(subject)) log.error({ subject }, `${title}. ${message}`)
      logged.add(subject)
    }
    for (const { subject, message } of recoveries) if (logged.delete(subject)) log.info({ subject }, message)
  }
}
