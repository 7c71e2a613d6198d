import type { Heartbeat } from '../../proto/gen/probe/v1/fleet.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import type { Machine } from '../clock.ts'
import type { ResultTransport } from '../results/result-transport.ts'
import type { ProbeWork } from '../schedule/work.ts'
import type { CheckCount } from './check-counters.ts'
import type { ProbeMetrics } from './metrics.ts'
import { trackPeakLoad } from './peak-load.ts'
import type { ReadinessConditions } from './readiness.ts'

export type ProbeHealthOptions = {
  /** null until the first welcome, both */
  post: () => ResultTransport | null
  work: () => ProbeWork | null
  checks: () => CheckCount[]
  isFleetLinked: () => boolean
  isDraining: () => boolean
  isOnline: () => boolean
  isDoubting: () => boolean
  /** null: not known, or no browser */
  sandboxWorks: () => boolean | null
  clock: RemoteClock
  machine: Machine
  runningLimit: number
}

/** How the probe is: told to the control plane with each heartbeat, and to whoever asks its own port. */
export type ProbeHealth = {
  heartbeat: () => Omit<Heartbeat, 'seq'>
  collectMetrics: () => ProbeMetrics
  readinessConditions: () => ReadinessConditions
}

const NO_LOAD = { running: 0, waiting: 0, loopLagMs: 0, startDelayMs: 0 }

export function createProbeHealth(parts: ProbeHealthOptions): ProbeHealth {
  const { post, work, checks, isFleetLinked, isDraining, isOnline, isDoubting, clock, machine, runningLimit } = parts
  const peaks = trackPeakLoad(() => work()?.load() ?? NO_LOAD)

  function loadWith(load: typeof NO_LOAD): Omit<Heartbeat, 'seq'> {
    const fleetMs = clock.nowMs()
    return {
      ...load,
      spoolBytes: post()?.spoolBytes() ?? 0,
      spoolResults: post()?.spoolResults() ?? 0,
      droppedResults: post()?.droppedResults() ?? 0,
      runningLimit,
      clockOffsetMs: fleetMs === null ? undefined : Math.round(machine.believedMs() - fleetMs),
      connectivityOk: isOnline(),
      natsAwayMs: post()?.natsAwayMs() ?? 0,
    }
  }

  function standing(): ReadinessConditions {
    const ways = post()?.readinessConditions() ?? { nats: 'away', spool: 'away' }
    return { fleet: isFleetLinked() ? 'ok' : 'away', ...ways, isDraining: isDraining() }
  }

  return {
    heartbeat: () => loadWith(peaks.forHeartbeat()),
    collectMetrics: () => ({
      ...loadWith(peaks.forScrape()),
      checks: checks(),
      assignments: work()?.monitors() ?? 0,
      publishedResults: post()?.publishedResults() ?? 0,
      lateResults: post()?.lateResults() ?? 0,
      isFleetLinked: isFleetLinked(),
      isNatsConnected: standing().nats !== 'away',
      isDoubting: isDoubting(),
      sandboxWorks: parts.sandboxWorks(),
    }),
    readinessConditions: standing,
  }
}
