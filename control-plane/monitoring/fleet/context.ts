import type { Log } from '../../../shared/process/log.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import type { AssignmentChange, AssignmentTable } from './assignments/assignment-table.ts'
import type { FleetMetrics } from './metrics.ts'
import type { InFlightRuns } from './on-demand/in-flight-runs.ts'
import type { ProbeSession } from './sessions/session.ts'
import { queueMonitor } from './sessions/sync-queue.ts'
import type { FleetTiming } from './timing.ts'

/** What one fleet process has in hand: the table, its open sessions, and whom to tell. */
export type FleetContext = {
  db: Db
  nats: Nats
  secrets: SecretCipher
  log: Log
  /** for people, in `probes.connected_to` */
  processName: string
  /** where probes publish */
  natsUrl: string
  timing: FleetTiming
  assignments: AssignmentTable
  /** by probe id */
  sessions: Map<string, ProbeSession>
  runs: InFlightRuns
  metrics: FleetMetrics
  isStopping: boolean
  /** Brings a region's live set and the table up to date, because a probe has come. */
  admit(region: string): Promise<void>
  /** A probe has work of this epoch: the database has to know it, or gives a higher one. */
  reconcileEpoch(region: string, epoch: number): Promise<void>
  /** Have the next round now. */
  wake(): void
  /** Reads what changed of the monitors since the last time. */
  syncMonitors(): Promise<void>
  /** Changes of live sets are entered one after another. */
  runSerially: <T>(work: () => Promise<T>) => Promise<T>
  /** connections that ended and are not written down yet */
  endedConnections: string[]
}

/** Notes for each of this process's probes what has changed for it; returns the sessions that have to hear of it. */
export function queueChanges(
  sessions: ReadonlyMap<string, ProbeSession>,
  marks: readonly AssignmentChange[],
): Set<ProbeSession> {
  const marked = new Set<ProbeSession>()
  for (const { probeId, monitorId, why } of marks) {
    const session = sessions.get(probeId)
    if (!session) continue
    queueMonitor(session.syncQueue, monitorId, why)
    marked.add(session)
  }
  return marked
}
