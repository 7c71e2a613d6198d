import type { Heartbeat } from '../proto/gen/probe/v1/fleet.ts'
import type { RemoteClock } from '../shared/remote-clock.ts'
import type { Machine } from './clock.ts'
import type { Figures } from './figures.ts'
import { sharePeaks } from './peaks.ts'
import type { Post } from './post.ts'
import type { Standing } from './readiness.ts'
import type { TallyRow } from './tally.ts'
import type { Work } from './work.ts'

export type HealthParts = {
  /** null until the first welcome, both */
  post: () => Post | null
  work: () => Work | null
  checks: () => TallyRow[]
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
export type Health = {
  heartbeat: () => Omit<Heartbeat, 'seq'>
  figures: () => Figures
  standing: () => Standing
}

const NO_LOAD = { running: 0, waiting: 0, loopLagMs: 0, startDelayMs: 0 }

export function createHealth(parts: HealthParts): Health {
  const { post, work, checks, isFleetLinked, isDraining, isOnline, isDoubting, clock, machine, runningLimit } = parts
  const peaks = sharePeaks(() => work()?.load() ?? NO_LOAD)

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

  function standing(): Standing {
    const ways = post()?.standing() ?? { nats: 'away', spool: 'away' }
    return { fleet: isFleetLinked() ? 'ok' : 'away', ...ways, isDraining: isDraining() }
  }

  return {
    heartbeat: () => loadWith(peaks.forHeartbeat()),
    figures: () => ({
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
    standing,
  }
}
