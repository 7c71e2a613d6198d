import type { FleetMessage, Hello } from '../../../../proto/gen/probe/v1/fleet.ts'
import { type AssignmentTable, getRegionPlan, listChangesForProbe } from '../assignments/assignment-table.ts'
import { getOwnedMonitors } from '../assignments/region-plan.ts'
import type { StoredProbeHealth } from './messages.ts'
import { createDeltaQueue, createSnapshotQueue, type ProbeSyncQueue } from './sync-queue.ts'

export type MessageBody = NonNullable<FleetMessage['body']>

/** Why a session ends, as a gRPC status says it to the probe. */
export type DisconnectReason =
  | 'silent'
  | 'slow'
  | 'replaced'
  | 'taken over'
  | 'revoked'
  | 'failed'
  | 'stopping'
  | 'gone'

/** One probe's open stream. Times are monotonic milliseconds. */
export type ProbeSession = {
  probeId: string
  region: string
  name: string
  instanceId: string
  /** what `probes.connected_to` says while this is the probe's newest connection */
  connectedTo: string
  syncQueue: ProbeSyncQueue
  isSending: boolean
  isOpen: boolean
  lastMessageMs: number
  /** when `lastMessageMs` was last written down */
  recordedMs: number
  /** when its credentials for NATS end, by JetStream's time; not of use without operator mode */
  credentialsEndMs: number
  /** since when its heartbeats say that its test of its own connection fails; null: it passes */
  offlineSinceMs: number | null
  /** of its newest heartbeat */
  health: StoredProbeHealth | null
  /** false when the stream holds back: what may be lost is then not sent */
  canSend(): boolean
  /** Resolves when the transport took the message; false when it did not in time, and then the session is closed. */
  send(body: MessageBody): Promise<boolean>
  close(why: DisconnectReason): void
}

/**
 * What a probe that just said hello is owed: the changes since its revision when its assignments are of the epoch that
 * is in force, else a snapshot (decisions 11.1).
 */
export function buildSyncQueue(table: AssignmentTable, region: string, probeId: string, hello: Hello): ProbeSyncQueue {
  const plan = getRegionPlan(table, region)
  const { revision, compactedRevision: floor } = table.monitors
  const knows =
    hello.lastRevision > 0 &&
    hello.lastRevision >= floor &&
    hello.lastRevision <= revision &&
    hello.lastEpoch === plan.epoch
  if (!knows) return createSnapshotQueue({ revision, epoch: plan.epoch }, [...getOwnedMonitors(plan, probeId)])
  const changedMonitors = listChangesForProbe(table, region, probeId, hello.lastRevision)
  return createDeltaQueue({ revision: hello.lastRevision, epoch: plan.epoch }, plan.epoch, changedMonitors)
}
