import type { FleetMessage, Hello } from '../../proto/gen/probe/v1/fleet.ts'
import { type Book, changedFor, planOf } from './book.ts'
import type { Health } from './messages.ts'
import { createOutbox, createSnapshotOutbox, type Outbox } from './outbox.ts'
import { ownedBy } from './plan.ts'

export type MessageBody = NonNullable<FleetMessage['body']>

/** Why a link ends, as a gRPC status says it to the probe. */
export type Farewell = 'silent' | 'slow' | 'replaced' | 'taken over' | 'revoked' | 'failed' | 'stopping' | 'gone'

/** One probe's open stream. Times are monotonic milliseconds. */
export type Link = {
  probeId: string
  region: string
  name: string
  instanceId: string
  /** what `probes.connected_to` says while this is the probe's newest connection */
  connectedTo: string
  outbox: Outbox
  isPumping: boolean
  isOpen: boolean
  lastHeardMs: number
  /** when `lastHeardMs` was last written down */
  recordedMs: number
  /** when its credentials for NATS end, by JetStream's time; not of use without operator mode */
  credentialsEndMs: number
  /** since when its heartbeats say that its test of its own connection fails; null: it passes */
  offlineSinceMs: number | null
  /** of its newest heartbeat */
  health: Health | null
  /** false when the stream holds back: what may be lost is then not sent */
  isFree(): boolean
  /** Resolves when the transport took the message; false when it did not in time, and then the link is closed. */
  send(body: MessageBody): Promise<boolean>
  close(why: Farewell): void
}

/**
 * What a probe that just said hello is owed: the changes since its revision when its assignments are of the epoch that
 * is in force, else a snapshot (decisions 11.1).
 */
export function outboxFor(book: Book, region: string, probeId: string, hello: Hello): Outbox {
  const plan = planOf(book, region)
  const { revision, floor } = book.roster
  const knows =
    hello.lastRevision > 0 &&
    hello.lastRevision >= floor &&
    hello.lastRevision <= revision &&
    hello.lastEpoch === plan.epoch
  if (!knows) return createSnapshotOutbox({ revision, epoch: plan.epoch }, [...ownedBy(plan, probeId)])
  const dirty = changedFor(book, region, probeId, hello.lastRevision)
  return createOutbox({ revision: hello.lastRevision, epoch: plan.epoch }, plan.epoch, dirty)
}
