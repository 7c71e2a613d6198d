import type { Log } from '../../shared/log.ts'
import type { Metrics } from '../../shared/metrics.ts'
import { pruneDisagreements } from '../fleet/drain-store.ts'
import { monotonicMs, now } from '../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { isWanted, type RegionSeen, type Troubles } from './fleet-troubles.ts'
import { lookAtFleet } from './fleet-watch-actions.ts'

const EVERY_MS = 10_000
/** They are kept for a day. */
const PRUNE_EVERY_MS = 60_000
/** After a longer gap between two rounds nothing is known of the time before. */
const GAP_MS = 60_000

/**
 * Drains probes that disagree often, and tells the operator of the fleet's troubles: an incident of the operator
 * project, the log, and gauges. Any number of processes may watch. Without an operator project only the log and the
 * gauges tell it.
 */
export function startFleetWatchWorker(context: LoopTools & { db: Db; publicUrl: string }): Loop {
  const { db, publicUrl } = context
  const show = createGauges(context.metrics)
  const sayOnce = createSayOnce(context.log)
  let sinceMs = monotonicMs()
  let lastMs = sinceMs
  let prunedMs = Number.NEGATIVE_INFINITY
  return startLoop('fleet_watch', EVERY_MS, context, async () => {
    const startedMs = monotonicMs()
    if (startedMs - lastMs > GAP_MS) sinceMs = startedMs
    if (startedMs - prunedMs > PRUNE_EVERY_MS) {
      await pruneDisagreements(db)
      prunedMs = startedMs
    }
    const seen = await lookAtFleet(db, publicUrl, startedMs - sinceMs, now())
    lastMs = monotonicMs()
    show(seen.regions)
    sayOnce(seen)
  })
}

function createGauges(metrics: Metrics): (regions: RegionSeen[]) => void {
  const live = metrics.gauge('picket_region_live_probes', 'Probes that get work, of regions that are wanted', [
    'region',
  ])
  const drained = metrics.gauge('picket_region_drained_probes', 'Probes without work for disagreeing often', ['region'])
  return regions => {
    live.reset()
    for (const seen of regions) {
      if (isWanted(seen)) live.set({ region: seen.region }, seen.liveProbes)
      drained.set({ region: seen.region }, seen.drainedProbes)
    }
  }
}

/** Logs each trouble when it begins and when it ends. */
function createSayOnce(log: Log): (found: Troubles) => void {
  const said = new Set<string>()
  return ({ troubles, wells }) => {
    for (const { subject, title, message } of troubles) {
      if (!said.has(subject)) log.error({ subject }, `${title}. ${message}`)
      said.add(subject)
    }
    for (const { subject, message } of wells) if (said.delete(subject)) log.info({ subject }, message)
  }
}
