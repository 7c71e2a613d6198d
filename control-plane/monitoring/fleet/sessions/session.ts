import type { FleetMessage, Hello } from '../../../../proto/gen/probe/v1/fleet.ts'
import { type AssignmentTable, getRegionPlan, listChangesForProbe } from '../assignments/assignment-table.ts'
import { getOwnedMonitors } from '../assignments/region-plan.ts'
import type { StoredProbeHealth } from './messages.ts'
import { createDeltaQueue, createSnapshotQueue, type ProbeSyncQueue } from './sync-queue.ts'

export type MessageBody = NonNullable<FleetMessage['body']>

/** Why a session ends. The probe receives it as a gRPC status; it is also a metric label. */
export type DisconnectReason =
  | 'silent'
  | 'slow'
  | 'replaced'
  | 'superseded'
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
  /** the value of `probes.connected_to` while this is the probe's newest connection */
  connectedTo: string
  syncQueue: ProbeSyncQueue
  isSending: boolean
  isOpen: boolean
  lastMessageMs: number
  /** when `lastMessageMs` was last recorded in the database */
  recordedMs: number
  /** when its NATS credentials expire, by JetStream's time; unused without operator mode */
  credentialsEndMs: number
  /** since when its heartbeats report a failed connectivity test; null: it passes */
  offlineSinceMs: number | null
  /** it is stopping, and the database does not know it yet */
  isDrainUnrecorded: boolean
  /** from its newest heartbeat */
  health: StoredProbeHealth | null
  /** False while the stream's buffer is full. Messages that may be lost are not sent then. */
  canSend(): boolean
  /** Resolves to true when the transport accepted the message. When it does not in time, the session is closed. */
  send(body: MessageBody): Promise<boolean>
  close(why: DisconnectReason): void
}

/**
 * Builds the queue for a probe that has just connected: the changes since its revision when its assignments have the current
 * epoch, else a snapshot (docs/design/assignments.md#synchronization). While the plan is changing, its first moves belong to
 * the next epoch and have no revision, so a snapshot is necessary.
 */
export function buildSyncQueue(table: AssignmentTable, region: string, probeId: string, hello: Hello): ProbeSyncQueue {
  const plan = getRegionPlan(table, region)
  const { revision, compactedRevision } = table.monitors
  const isDeltaPossible =
    hello.lastRevision > 0 &&
    hello.lastRevision >= compactedRevision &&
    hello.lastRevision <= revision &&
    hello.lastEpoch === plan.epoch &&
    !plan.isChanging
  if (!isDeltaPossible)
    return createSnapshotQueue({ revision, epoch: plan.epoch }, [...getOwnedMonitors(plan, probeId)])
  const changedMonitors = listChangesForProbe(table, region, probeId, hello.lastRevision)
  return createDeltaQueue({ revision: hello.lastRevision, epoch: plan.epoch }, plan.epoch, changedMonitors)
}
