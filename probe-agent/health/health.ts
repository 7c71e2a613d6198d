import type { Heartbeat } from '../../proto/gen/probe/v1/fleet.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import type { Machine } from '../clock.ts'
import type { ResultTransport } from '../results/result-transport.ts'
import type { ProbeWork } from '../schedule/work.ts'
import type { CheckCount } from './check-counters.ts'
import type { ProbeMetrics } from './metrics.ts'
import { trackPeakLoad } from './peak-load.ts'
import type { ReadinessConditions } from './readiness.ts'

type ProbeHealthOptions = {
  /** null until the first welcome message */
  transport: () => ResultTransport | null
  work: () => ProbeWork | null
  checks: () => CheckCount[]
  isFleetLinked: () => boolean
  isDraining: () => boolean
  isOnline: () => boolean
  isDoubting: () => boolean
  /** null: unknown, or no browser */
  sandboxWorks: () => boolean | null
  clock: RemoteClock
  machine: Machine
  runningLimit: number
}

/** The state of the probe, for heartbeats and for its metrics port. */
type ProbeHealth = {
  heartbeat: () => Omit<Heartbeat, 'seq'>
  collectMetrics: () => ProbeMetrics
  readinessConditions: () => ReadinessConditions
}

const NO_LOAD = { running: 0, waiting: 0, loopLagMs: 0, startDelayMs: 0 }

export function createProbeHealth(parts: ProbeHealthOptions): ProbeHealth {
  const { transport, work, checks, isFleetLinked, isDraining, isOnline, isDoubting, clock, machine, runningLimit } =
    parts
  const peaks = trackPeakLoad(() => work()?.load() ?? NO_LOAD)

  function loadWith(load: typeof NO_LOAD): Omit<Heartbeat, 'seq'> {
    const fleetMs = clock.nowMs()
    return {
      ...load,
      spoolBytes: transport()?.spoolBytes() ?? 0,
      spoolResults: transport()?.spoolResults() ?? 0,
      droppedResults: transport()?.droppedResults() ?? 0,
      runningLimit,
      clockOffsetMs: fleetMs === null ? undefined : Math.round(machine.believedMs() - fleetMs),
      connectivityOk: isOnline(),
      natsAwayMs: transport()?.natsAwayMs() ?? 0,
    }
  }

  function readinessConditions(): ReadinessConditions {
    const outputs = transport()?.readinessConditions() ?? { nats: 'away', spool: 'away' }
    return { fleet: isFleetLinked() ? 'ok' : 'away', ...outputs, isDraining: isDraining() }
  }

  return {
    heartbeat: () => loadWith(peaks.forHeartbeat()),
    collectMetrics: () => ({
      ...loadWith(peaks.forScrape()),
      checks: checks(),
      assignments: work()?.monitors() ?? 0,
      publishedResults: transport()?.publishedResults() ?? 0,
      lateResults: transport()?.lateResults() ?? 0,
      isFleetLinked: isFleetLinked(),
      isNatsConnected: readinessConditions().nats !== 'away',
      isDoubting: isDoubting(),
      sandboxWorks: parts.sandboxWorks(),
    }),
    readinessConditions,
  }
}
