import type { Log } from '../../../shared/process/log.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import type { HistoryPosition } from '../monitors/store.ts'
import type { AssignmentChange, AssignmentTable } from './assignments/assignment-table.ts'
import type { FleetMetrics } from './metrics.ts'
import type { InFlightRuns } from './on-demand/in-flight-runs.ts'
import type { AuthenticateCaller } from './probes/caller-actions.ts'
import type { ProbeSession } from './sessions/session.ts'
import { queueMonitor } from './sessions/sync-queue.ts'
import type { FleetTiming } from './timing.ts'

/** The state of one fleet process: the assignment table, its open sessions, and the functions that change them. */
export type FleetContext = {
  db: Db
  /** for probes that connect, so that they cannot delay the rounds */
  admissionsDb: Db
  nats: Nats
  secrets: SecretCipher
  log: Log
  /** shown to people, in `probes.connected_to` */
  processName: string
  /** where probes publish */
  natsUrl: string
  timing: FleetTiming
  assignments: AssignmentTable
  /** by probe id */
  sessions: Map<string, ProbeSession>
  runs: InFlightRuns
  authenticate: AuthenticateCaller
  metrics: FleetMetrics
  isStopping: boolean
  /** Updates a region's live set and the table after a probe has connected. */
  admit(region: string): Promise<void>
  /** Makes the database catch up with the epoch of a probe's assignments. When it does not have it, the region gets a higher one. */
  reconcileEpoch(region: string, epoch: number): Promise<void>
  /** Runs the next round now. */
  wake(): void
  /** Has the changes of monitors read soon when the database, at this position, has some that are not read. */
  followHistory(now: HistoryPosition): void
  /** Has the access of revoked probes ended now when one of these ids is new. */
  followRevoked(probeIds: readonly string[]): void
  /** Reads the changes of monitors since the last call. */
  syncMonitors(): Promise<void>
  /** Runs changes of live sets one after another. */
  runSerially: <T>(work: () => Promise<T>) => Promise<T>
  /** connections that ended and are not recorded in the database yet */
  endedConnections: string[]
}

/** Queues changes for the probes of this process. Returns the sessions that have something to send. */
export function queueChanges(
  sessions: ReadonlyMap<string, ProbeSession>,
  changes: readonly AssignmentChange[],
): Set<ProbeSession> {
  const changed = new Set<ProbeSession>()
  for (const { probeId, monitorId, why } of changes) {
    const session = sessions.get(probeId)
    if (!session) continue
    queueMonitor(session.syncQueue, monitorId, why)
    changed.add(session)
  }
  return changed
}
